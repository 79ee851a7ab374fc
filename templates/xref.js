// What every page needs: data, keys for lists, links of line numbers. Other scripts are loaded by the pages that need
// them. Pages work without any of it.
"use strict";

const xref = {
  root: document.currentScript.src.replace(/assets\/xref\.js.*$/, ""),
  packed: new Map(),
  ready: new Map(),
  loading: new Map(),

  // Data files call this: a page opened from disk may not fetch, so all data arrives as scripts.
  put(name, data) {
    this.packed.set(name, data);
  },

  load(file) {
    if (!this.loading.has(file)) {
      this.loading.set(file, new Promise((resolve, reject) => {
        const script = document.createElement("script");
        script.src = this.root + file;
        script.onload = resolve;
        script.onerror = () => reject(new Error(file + " is missing"));
        document.head.append(script);
      }));
    }
    return this.loading.get(file);
  },

  // Other scripts, one after the other.
  async use(...names) {
    for (const name of names) await this.load(`assets/${name}.js`);
  },

  // The content of a data file: JSON, deflated, in base64.
  data(file) {
    if (!this.ready.has(file)) {
      this.ready.set(file, this.load(file).then(async () => {
        const text = atob(this.packed.get(file)), bytes = new Uint8Array(text.length);
        for (let at = 0; at < text.length; at++) bytes[at] = text.charCodeAt(at);  // five times as fast as Uint8Array.from
        this.packed.delete(file);
        const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
        return JSON.parse(await new Response(stream).text());
      }));
    }
    return this.ready.get(file);
  },

  element(tag, attributes, ...children) {
    const made = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes || {})) made.setAttribute(name, value);
    made.append(...children);
    return made;
  },

  // What a reader chose, kept between pages where the browser allows it.
  recall(key) {
    try {
      return localStorage.getItem(`xref.${key}`);
    } catch {
      return null;
    }
  },

  keep(key, value) {
    try {
      localStorage.setItem(`xref.${key}`, value);
    } catch { /* private windows */ }
  },
};

(() => {
  // ---- Keys: / to search, j and k along lists -------------------------------------------------------------------

  function lists() {
    return [...document.querySelectorAll("main ul.calls > li:not(.f), main li.f li, main ul.keys > li, main ul.refs > li, main ul.members > li, main ul.columns > li, main table.list tbody tr, main ol.passes > li")]
      .filter((item) => item.getClientRects().length);
  }

  function step(by) {
    const items = lists();
    if (!items.length) return;
    const now = items.findIndex((item) => item.classList.contains("on"));
    if (now >= 0) items[now].classList.remove("on");
    let next = now + by;
    if (now < 0) {
      next = items.findIndex((item) => item.getBoundingClientRect().top > 60);
      if (next < 0) next = 0;
    }
    next = Math.max(0, Math.min(items.length - 1, next));
    items[next].classList.add("on");
    items[next].scrollIntoView({ block: "nearest" });
    const link = items[next].querySelector("a");
    if (link) link.focus({ preventScroll: true });
  }

  function keys() {
    document.addEventListener("keydown", (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest("input, textarea, select")) return;
      if (event.key === "/" && xref.searchBox) {
        event.preventDefault();
        xref.searchBox.focus();
        xref.searchBox.select();
      } else if (event.key === "j" || event.key === "k") {
        step(event.key === "j" ? 1 : -1);
      } else if ((event.key === "ArrowDown" || event.key === "ArrowUp") && event.target.closest("li.on, tr.on")) {
        event.preventDefault();
        step(event.key === "ArrowDown" ? 1 : -1);
      } else if (event.key === "Escape") {
        document.querySelectorAll("li.on, tr.on").forEach((item) => item.classList.remove("on"));
        if (document.activeElement) document.activeElement.blur();
      }
    });
  }

  // ---- Line numbers that follow the link to their file --------------------------------------------------------

  // The file is that of the last link to one before them in their row, of the list's item around that, or of the symbol.
  function lineLinks(numbers) {
    const source = (link) => link?.href?.startsWith?.(`${xref.root}source/`) && link;
    const links = [...numbers.closest("li").querySelectorAll("a[href]")];
    const file = links.findLast((link) => source(link) && link.compareDocumentPosition(numbers) & Node.DOCUMENT_POSITION_FOLLOWING)
      || source(numbers.closest("li.f, ul.refs > li")?.querySelector("a[href]")) || source(numbers.closest("section.symbol")?.querySelector(".facts a[href]"));
    if (!file) return;
    const base = file.href.replace(/#.*/, "");
    numbers.replaceChildren(...numbers.textContent.split(" ").flatMap((line, at) => [at ? " " : "", xref.element("a", { href: `${base}#L${line}` }, line)]));
  }

  // On a narrow screen paths and qualified names break where a part ends, not inside a word.
  function breakable(link) {
    if (link.childElementCount) return;
    const text = link.textContent;
    link.replaceChildren(...text.split(text.includes("/") ? /(?<=[/])/ : /(?<=::)|(?<=\w\.)(?=\w)/).flatMap((part, at) => (at ? [document.createElement("wbr"), part] : [part])));
  }

  // The list of a file's symbols: its line numbers lead to the file.
  function symbolLines(table) {
    const base = new URL(table.dataset.src, document.baseURI).href;
    for (const row of table.tBodies[0].rows) {
      const cell = row.cells[2];
      cell.replaceChildren(xref.element("a", { href: `${base}#L${cell.textContent}` }, cell.textContent));
    }
  }

  // What an address names must be seen below the bars that stay: their height depends on the screen, and scripts fill in
  // what stands above it. Until the reader moves.
  function aim() {
    const top = document.querySelector(".top");
    let moved = false;
    for (const kind of ["wheel", "touchmove", "keydown", "pointerdown"]) addEventListener(kind, () => { moved = true; }, { once: true, passive: true });
    const named = () => {
      try {
        return location.hash.length > 1 && document.getElementById(decodeURIComponent(location.hash.slice(1)));
      } catch {
        return null;  // no address of ours
      }
    };
    function settle() {
      document.documentElement.style.scrollPaddingTop = `${top.getBoundingClientRect().height + 14}px`;
      const target = !moved && named();
      if (!target || target.closest(".code")) return;
      for (let folded = target.closest("details:not([open])"); folded; folded = folded.parentElement.closest("details:not([open])")) folded.open = true;
      const at = target.getBoundingClientRect().top;
      if (at < top.getBoundingClientRect().bottom || at > innerHeight - 60) target.scrollIntoView({ block: "start" });
    }
    new ResizeObserver(settle).observe(top);
    new ResizeObserver(settle).observe(document.getElementById("main"));
  }

  // A function that shares its page has its drawing on the graph's page.
  document.querySelectorAll("section.symbol[id]").forEach((section) => {
    if (!section.querySelector("[id$=-callers], [id$=-callees]")) return;
    section.querySelector(".facts").append(" · ", xref.element("a", { href: `${xref.root}graph.html#of=${section.id}` }, "call graph"));
  });
  // Places of long lists, `path:line`.
  document.querySelectorAll(".pl").forEach((span) => {
    const [path, line] = span.textContent.split(/:(?=\d+$)/);
    span.replaceWith(xref.element("a", { class: "place", href: `${xref.root}source/${path}.html#L${line}` }, span.textContent));
  });
  document.querySelectorAll("main li i:not([class])").forEach(lineLinks);
  document.querySelectorAll("table.syms").forEach(symbolLines);
  if (matchMedia("(max-width: 40rem)").matches) document.querySelectorAll("main :is(.place, .sym, .list a, .calls a, .refs a)").forEach(breakable);
  keys();
  aim();
  xref.use("search", "searchbox");
  xref.use("code");
  if (document.querySelector(".drawing")) xref.use("drawing");
  if (document.querySelector("[data-live], [data-explore]")) xref.use("callgraph", "drawing", "graph").then(() => document.querySelector("[data-explore]") && xref.use("explore"));
  if (document.querySelector("[data-run], [data-filter], [data-text], [data-compare]")) xref.use("runs");
})();
