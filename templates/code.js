// Source: ranges of lines, the same name lit, cards about names, where in the code you are, how often runs came by.
"use strict";

(() => {
  const LINE = 20;  // pixels, as in xref.css
  const FEW = 12;  // lines that a run was seen on that are listed at once
  const LANGUAGES = { cpp: "C++", python: "Python", cython: "Cython" };
  const element = xref.element;

  // ---- Line ranges: #L10-L20 ----------------------------------------------------------------------------------

  function range() {
    const match = /^#L(\d+)-L?(\d+)$/.exec(location.hash);
    return match && [Math.min(match[1], match[2]), Math.max(match[1], match[2])];
  }

  function light(scroll) {
    document.querySelectorAll(".code .in").forEach((line) => line.classList.remove("in"));
    const lines = range();
    if (!lines) return;
    for (let at = lines[0]; at <= lines[1]; at++) {
      const line = document.getElementById(`L${at}`);
      if (!line) break;
      line.classList.add("in");
    }
    const first = document.getElementById(`L${lines[0]}`);
    if (first && scroll) first.scrollIntoView({ block: "center" });
  }

  function lineNumbers(code) {
    let from = 0;
    code.addEventListener("click", (event) => {
      const line = event.target;
      if (!line.id || !/^L\d+$/.test(line.id) || event.offsetX > parseFloat(getComputedStyle(line, "::before").width)) return;
      const at = Number(line.id.slice(1));
      const open = /^#L(\d+)/.exec(location.hash);
      if (event.shiftKey && (from || open)) {
        const begin = from || Number(open[1]);
        history.replaceState(null, "", `#L${Math.min(begin, at)}-L${Math.max(begin, at)}`);
        getSelection().removeAllRanges();
      } else {
        from = at;
        location.replace(`#L${at}`);
      }
      light(false);
    });
  }

  // ---- The same name: pointing at one lights all of them in the page --------------------------------------------

  function sameNames(code) {
    let lit = [];
    function mark(event) {
      const link = event.target.closest && event.target.closest("a:not(.c)");
      lit.forEach((other) => other.classList.remove("same"));
      lit = [];
      if (!link || !code.contains(link)) return;
      const address = link.getAttribute("href");
      lit = [...code.querySelectorAll(`a[href="${address.replace(/["\\]/g, "\\$&")}"]`)].filter((other) => other.textContent === link.textContent);
      lit.forEach((other) => other.classList.add("same"));
    }
    code.addEventListener("mouseover", mark);
    code.addEventListener("focusin", mark);
    code.addEventListener("mouseleave", mark);
  }

  // ---- Cards: what a name is, after a moment's pointing, or at once by the key i --------------------------------

  const SHARDS = 192;  // as in xref/site/cards.py
  let card = null, timer = 0, owner = null;

  function codeOf(link) {
    const own = /\/s\/(\w)\/(\w+)\.html(?:#(\w+))?$/.exec(link.href);
    if (own) return own[3] && own[3].length >= 7 ? own[3] : own[1] + own[2];
    const shared = /\/(?:f|outside)\/[^#]*#(\w+)$/.exec(link.href);
    return shared && shared[1];
  }

  async function contents(link) {
    if (link.getAttribute("href")?.startsWith?.("#L")) {
      const line = document.getElementById(link.getAttribute("href").slice(1));
      const words = line && [...line.childNodes].filter((node) => node.className !== "c").map((node) => node.textContent);
      return line && [element("p", {}, "Local: "), element("pre", {}, words.join("").trim())];
    }
    const code = codeOf(link);
    if (!code) return null;
    const cards = await xref.data(`cards/${parseInt(code.slice(0, 4), 36) % SHARDS}.js`);
    const found = cards[code];
    if (!found) return null;
    const [kind, lang, label, signature, doc, place, callers, refs, keys] = found;
    const made = [element("p", {}, element("span", { class: `lang ${lang}` }, LANGUAGES[lang] || lang), ` ${kind} `, element("b", { class: "sym" }, label))];
    if (signature) made.push(element("pre", {}, signature));
    if (doc) made.push(element("p", {}, doc));
    for (const key of keys) made.push(element("p", { class: "key" }, key));
    const counts = [];
    if (callers) counts.push(`${callers.toLocaleString("en")} caller${callers === 1 ? "" : "s"}`);
    if (refs) counts.push(`${refs.toLocaleString("en")} reference${refs === 1 ? "" : "s"}`);
    made.push(element("p", { class: "note" }, [place || "outside the tree", ...counts].join(" · ")));
    return made;
  }

  async function open(link) {
    owner = link;
    let parts;
    try {
      parts = await contents(link);
    } catch {
      return;  // a site without cards still has its links
    }
    if (!parts || owner !== link) return;
    close();
    owner = link;
    card = element("div", { class: "card", role: "tooltip", id: "card" }, ...parts);
    document.body.append(card);
    const box = link.getBoundingClientRect(), own = card.getBoundingClientRect();
    const below = box.bottom + own.height + 8 < innerHeight;
    card.style.left = `${Math.max(8, Math.min(box.left, innerWidth - own.width - 8))}px`;
    card.style.top = `${below ? box.bottom + 2 : Math.max(8, box.top - own.height - 2)}px`;
    link.setAttribute("aria-describedby", "card");
    card.addEventListener("mouseleave", later);
    card.addEventListener("mouseenter", () => clearTimeout(timer));
  }

  function close() {
    clearTimeout(timer);
    if (owner) owner.removeAttribute("aria-describedby");
    if (card) card.remove();
    card = owner = null;
  }

  function later() {
    clearTimeout(timer);
    timer = setTimeout(close, 200);
  }

  function cards() {
    const linkOf = (event) => event.target.closest && event.target.closest(".code a:not(.c), .graph .node a, ul.calls a, a.sym, .key a");
    document.addEventListener("mouseover", (event) => {
      const link = linkOf(event);
      if (!link || link === owner) return;
      clearTimeout(timer);
      timer = setTimeout(() => open(link), 250);
    });
    document.addEventListener("mouseout", (event) => {
      if (linkOf(event)) later();
    });
    document.addEventListener("keydown", (event) => {
      if (event.key === "Escape") close();
      else if (event.key === "i" && !event.ctrlKey && !event.metaKey && !event.altKey && !event.target.closest("input, textarea, select")) {
        const link = document.activeElement && document.activeElement.closest("a[href]");
        if (link) open(link);
      }
    });
    addEventListener("scroll", () => { if (card) close(); }, { passive: true });
  }

  // ---- Where in the code you are --------------------------------------------------------------------------------

  function scopes(code) {
    const items = [...document.querySelectorAll(".outline li[data-e]")].map((item) => {
      const link = item.querySelector("a");
      return { item, link, from: Number(link.hash.slice(2)), to: Number(item.dataset.e) };
    });
    if (!items.length) return;
    const bar = element("nav", { class: "scopes", "aria-label": "Where you are", hidden: "" });
    document.querySelector(".top").append(bar);
    let shown = "", asked = false, jumped = "", place = 0;
    // The line that the address names, as long as the reader has not scrolled away from it; else the one below the bars.
    function lineAt(edge) {
      const named = /^#L(\d+)/.exec(location.hash), line = named && document.getElementById(`L${named[1]}`);
      const top = Math.floor((edge - code.getBoundingClientRect().top) / LINE) + 1;
      if (!line) return [top, 1];
      if (jumped !== location.hash) {
        jumped = location.hash;
        place = line.getBoundingClientRect().top;
      }
      const now = line.getBoundingClientRect().top;
      return Math.abs(now - place) < 2 * LINE && now >= edge && now < innerHeight ? [Number(named[1]), 0] : [top, 1];
    }
    function update() {
      asked = false;
      const edge = document.querySelector(".top").getBoundingClientRect().bottom, [at, below] = lineAt(edge);
      const around = items.filter(({ from, to }) => from + below <= at && at <= to);
      const key = around.map(({ from }) => from).join();
      if (key === shown) return;
      shown = key;
      items.forEach(({ item }) => item.classList.remove("here"));
      bar.hidden = !around.length;
      bar.replaceChildren(...around.map(({ link }) => element("a", { href: link.getAttribute("href") }, link.textContent)));
      const last = around[around.length - 1];
      if (!last) return;
      last.item.classList.add("here");
      const frame = document.querySelector(".outline details");
      const down = last.item.getBoundingClientRect().top - frame.getBoundingClientRect().top;
      if (down < 30 || down > frame.clientHeight - 40) frame.scrollTop += down - frame.clientHeight / 2;
    }
    const soon = () => {
      if (!asked) requestAnimationFrame(update);
      asked = true;
    };
    addEventListener("scroll", soon, { passive: true });
    addEventListener("hashchange", soon);
    update();
    // What is cut there is told by pointing at it.
    document.querySelector(".outline").addEventListener("mouseover", (event) => {
      const item = event.target.closest("li");
      if (item && item.scrollWidth > item.clientWidth) item.title = item.textContent.trim();
    });
  }

  // ---- How often a run came by -----------------------------------------------------------------------------------

  async function heat(code) {
    const facts = document.querySelector("p.facts");
    const runs = await xref.data("runs/index.js").catch(() => []);
    if (!runs.length || !facts) return;
    const choice = element("select", { id: "run", "aria-label": "Run shown in the margin" }, element("option", { value: "" }, "none"));
    for (const [id, title] of runs) choice.append(element("option", { value: id }, title));
    const note = element("span", { class: "note", role: "status" });
    facts.append(" · run ", choice, " ", note);
    const asked = new URLSearchParams(location.search).get("run"), known = (one) => runs.some(([id]) => id === one);
    const kept = known(asked) ? asked : xref.recall("run");
    choice.value = kept === "" || known(kept) ? kept : runs[0][0];
    const where = element("details", { class: "seen" });
    facts.after(where);
    const python = /\.py$/.test(code.dataset.path);
    let hot = [];
    async function show() {
      hot.forEach((line) => { line.classList.remove("hot"); line.removeAttribute("title"); line.style.removeProperty("--h"); });
      hot = [];
      const run = runs.find(([id]) => id === choice.value);
      const lines = run ? (await xref.data(run[2]))[code.dataset.path] || [] : [];
      let most = 1;
      for (let at = 1; at < lines.length; at += 2) most = Math.max(most, lines[at]);
      for (let at = 0; at < lines.length; at += 2) {
        const line = document.getElementById(`L${lines[at]}`);
        if (!line) continue;
        line.dataset.ran = lines[at + 1];
        line.classList.add("hot");
        line.title = `called or calling ×${lines[at + 1].toLocaleString("en")} in run ${choice.value}`;
        line.style.setProperty("--h", `${Math.round(25 + 75 * Math.log2(lines[at + 1] + 1) / Math.log2(most + 1))}%`);
        hot.push(line);
      }
      const seen = hot.length === 1 ? `it was seen on 1 line, ×${most.toLocaleString("en")}` : hot.length ? `it was seen on ${hot.length.toLocaleString("en")} lines, at most ×${most.toLocaleString("en")}` : "it was not seen here";
      where.replaceChildren(element("summary", {}, "Lines that it was seen on"), ...hot.flatMap((line) => [element("a", { href: `#${line.id}` }, line.id.slice(1)), ` ×${Number(line.dataset.ran).toLocaleString("en")} `]));
      where.hidden = !hot.length;
      where.open = hot.length <= FEW;
      note.textContent = !run ? "" : python || run[4] ? seen : `${seen}; of C++ it saw calls from and to Python, and passes`;
      note.title = !run || python || run[4] ? "" : "xref trace --native also records which C++ function called which";
    }
    choice.addEventListener("change", () => {
      xref.keep("run", choice.value);
      if (asked !== null) history.replaceState(null, "", location.pathname + location.hash);  // another was chosen since
      show();
    });
    show();
  }

  // ---- Words of the full-text search: #q=word --------------------------------------------------------------------

  function words(code) {
    const match = /^#q=(\w+)/.exec(location.hash);
    if (!match || !window.Highlight) return;
    const word = match[1].toLowerCase(), found = [];
    for (const line of code.querySelectorAll("pre > span")) {
      const text = line.textContent.toLowerCase();
      if (!text.includes(word)) continue;
      const walker = document.createTreeWalker(line, NodeFilter.SHOW_TEXT);
      for (let node = walker.nextNode(); node; node = walker.nextNode()) {
        for (let at = node.data.toLowerCase().indexOf(word); at >= 0; at = node.data.toLowerCase().indexOf(word, at + 1)) {
          const part = new Range();
          part.setStart(node, at);
          part.setEnd(node, at + word.length);
          found.push([part, line]);
        }
      }
    }
    CSS.highlights.set("word", new Highlight(...found.map(([part]) => part)));
    if (found.length) found[0][1].scrollIntoView({ block: "center" });
    let at = 0;
    document.addEventListener("keydown", (event) => {
      if (!found.length || !/^[nN]$/.test(event.key) || event.target.closest("input, select")) return;
      at = (at + (event.key === "n" ? 1 : -1) + found.length) % found.length;
      found[at][1].scrollIntoView({ block: "center" });
    });
  }

  if (matchMedia("(max-width: 60rem)").matches) {
    document.querySelectorAll(".outline details").forEach((outline) => { outline.open = false; });
  }
  document.querySelectorAll(".code").forEach((code) => {
    lineNumbers(code);
    sameNames(code);
  });
  cards();
  addEventListener("hashchange", () => light(true));
  light(true);
  const whole = document.querySelector(".code[data-path]");
  if (whole) {
    scopes(whole);
    heat(whole);
    words(whole);
  }
})();
