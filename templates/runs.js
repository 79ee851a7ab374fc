// Keys to browse and filter, words of the text, runs: flame view, comparison of two.
"use strict";

(() => {
  const element = xref.element;
  const number = (value) => value.toLocaleString("en");
  const counted = (value, noun) => `${number(value)} ${noun}${value === 1 ? "" : "s"}`;

  // ---- Keys: filter by name, registry and state ------------------------------------------------------------------

  const STATES = [["d", "dangling"], ["g", "behind a guard"], ["c", "registered in C++"], ["p", "registered in Python"], ["u", "used from Python"], ["s", "used from C++"]];
  const SHOWN = 300;

  function browse(section) {
    const input = element("input", { type: "search", maxlength: "100", placeholder: "part of a name, or relax.*.Fuse*", "aria-label": "Filter keys by name", autocomplete: "off", spellcheck: "false" });
    const registry = element("select", { "aria-label": "Registry" }, element("option", { value: "" }, "every registry"));
    const boxes = STATES.map(([letter, words]) => [letter, element("input", { type: "checkbox" }), words]);
    const list = element("ul", { class: "columns broad keys" }), status = element("p", { class: "note", role: "status" });
    section.replaceChildren(element("p", { class: "pick" }, input, " ", registry, " ", ...boxes.flatMap(([, box, words]) => [element("label", {}, box, ` ${words}`), " "])), status, list);
    async function update() {
      const keys = (await xref.data("search/names.js")).keys;
      if (registry.length === 1) {
        for (const name of [...new Set(keys.map((key) => key[1]))].sort()) registry.append(element("option", { value: name }, name));
        registry.value = section.dataset.filter;
      }
      const text = input.value.trim().toLowerCase();
      const pattern = text.includes("*") ? new RegExp(`^${text.split(/\*+/).map((part) => part.replace(/[.+?^${}()|[\]\\]/g, "\\$&")).join(".*")}$`) : null;
      const asked = boxes.filter(([, box]) => box.checked).map(([letter]) => letter);
      const quiet = !text && !asked.length;
      const found = quiet ? [] : keys.filter(([name, of, , state]) => (!registry.value || of === registry.value) && asked.every((letter) => state.includes(letter)) && (!text || (pattern ? pattern.test(name.toLowerCase()) : name.toLowerCase().includes(text))));
      list.replaceChildren(...found.slice(0, SHOWN).map(([name, of, url, state]) => element("li", {}, element("a", { class: "key", href: xref.root + url }, name), " ", element("span", { class: "kind" }, of), state.includes("d") ? element("span", { class: "status" }, " dangling") : state.includes("g") ? element("span", { class: "guard" }, " behind a guard") : "")));
      const whole = found.filter(([name]) => !name.endsWith("*")).length, prefixes = found.length - whole;
      status.textContent = quiet ? "" : `${number(whole)} key${whole === 1 ? "" : "s"}${prefixes ? `, and ${number(prefixes)} prefix${prefixes === 1 ? "" : "es"} completed at run time` : ""}${found.length > SHOWN ? `, the first ${SHOWN} shown` : ""}`;
    }
    section.addEventListener("input", update);
    section.addEventListener("change", update);
    update();
  }

  // ---- Words of the text ------------------------------------------------------------------------------------------

  async function words(section) {
    const out = section.querySelector("[role=status]");
    const input = element("input", { type: "search", placeholder: "word, or the beginning of one", "aria-label": "Word in the text", autocomplete: "off", spellcheck: "false", value: decodeURIComponent(location.hash.replace(/^#q=/, "")) });
    section.querySelector("noscript").replaceWith(element("p", { class: "pick" }, input));
    async function update() {
      const query = input.value.trim(), low = query.toLowerCase();
      history.replaceState(null, "", `#q=${encodeURIComponent(query)}`);
      if (!/^[A-Za-z_]\w\w/.test(query)) return out.replaceChildren(element("p", { class: "none" }, "Three letters at least; digits and _ may follow."));
      const [data, names] = await Promise.all([xref.data(`words/${low[0]}.js`), xref.data("search/names.js")]);
      const all = Array.isArray(data.words) ? data.words : (data.words = data.words.split("\n"));
      const found = all.map((word, at) => [word, at]).filter(([word]) => word.toLowerCase().startsWith(low));
      found.sort(([a], [b]) => (a.toLowerCase() === low ? 0 : 1) - (b.toLowerCase() === low ? 0 : 1) || (a === query ? -1 : b === query ? 1 : 0));
      const parts = found.slice(0, 40).map(([word, at], place) => {
        let file = 0;
        const files = data.files[at].split(" ").map((step) => (file += Number(step)));
        const items = files.map((position) => {
          const [path, url] = names.files[position];
          return element("li", {}, element("a", { class: "place", href: `${xref.root}${url}#q=${word}` }, path));
        });
        return element("details", place < 3 ? { open: "" } : {}, element("summary", {}, element("code", {}, word), ` in ${number(files.length)} file${files.length === 1 ? "" : "s"}`), element("ul", { class: "columns broad" }, ...items));
      });
      out.replaceChildren(...parts);
      if (!parts.length) out.replaceChildren(element("p", { class: "none" }, "No word of the text begins like that."));
      else if (found.length > 40) out.append(element("p", { class: "note" }, `${number(found.length - 40)} longer words begin like that too.`));
    }
    input.addEventListener("input", update);
    if (input.value) update();
  }

  // ---- A run: where the time went ----------------------------------------------------------------------------------

  const time = (ns) => (ns >= 1e9 ? `${(ns / 1e9).toPrecision(3)} s` : ns >= 1e6 ? `${(ns / 1e6).toPrecision(3)} ms` : `${(ns / 1e3).toPrecision(3)} µs`);
  const ROW = 24, CHAR = 6.7;  // pixels: a row of boxes, a character in them (xref.css)

  // Frames of xref/site/stacks.py as boxes: { label, full, lang, href, ns, times, note, most, below }; `most`: no more than
  // `ns` passed in it, since calls of it that ran inside one another count each. `whole` names all of them together.
  function tree(frames, whole) {
    const root = { label: whole, full: whole, lang: "", href: null, ns: 0, times: 1, note: "", below: [] };
    const made = frames.map((frame) => ({ ...frame, below: [] }));
    made.forEach((frame) => (frame.parent < 0 ? root : made[frame.parent]).below.push(frame));
    made.forEach((frame) => frame.below.sort((a, b) => b.ns - a.ns));
    root.below.sort((a, b) => b.ns - a.ns);
    root.ns = root.below.reduce((sum, { ns }) => sum + ns, 0);
    return root;
  }

  const callFrames = (run) => run.stacks.map(([parent, at, times, ns, callers, elsewhere]) => ({
    parent, times, ns, label: run.shorts[at], full: run.labels[at], lang: run.langs[at], href: run.hrefs[at], most: run.nested.includes(at),
    note: callers ? `called from ${callers} functions: what ran inside it, for all of them together` : elsewhere ? "several call it: what ran inside it begins a stack of its own" : "",
  }));
  const passFrames = (run) => run.pass_stacks.map(([parent, name, times, ns, href]) => ({ parent, times, ns, label: name, full: name, lang: "", href, note: "" }));

  const took = ({ ns, most }) => `${most ? "≤ " : ""}${time(ns)}`;

  // `sum`: what the time of all frames together is, "" where they overlap, so that it would be no time of the run.
  function flame(section, heading, about, frames, all, sum) {
    const whole = tree(frames, all);
    const canvas = element("div", { class: "flame", tabindex: "0", role: "group", "aria-label": `${heading}: boxes as wide as their time` });
    const trail = element("p", { class: "facts trail", role: "status" });
    section.append(element("h3", {}, heading), element("p", { class: "note" }, about), trail, canvas);
    let path = [whole];
    function draw() {
      const top = path[path.length - 1], pixels = canvas.clientWidth || 900;
      trail.replaceChildren(...path.flatMap((each, at) => {
        const link = element("button", { type: "button" }, each.label);
        link.addEventListener("click", () => show(path.slice(0, at + 1)));
        return at ? [" › ", link] : [link];
      }));
      if (top !== whole) trail.append(` ${took(top)}`);
      else if (sum) trail.append(` ${time(top.ns)} ${sum}`);
      if (top.href) trail.append(" · ", element("a", { href: xref.root + top.href }, "its page"));
      if (top.note) trail.append(` · ${top.note}`);
      let deepest = 0;
      const boxes = [];
      const put = (frame, left, width, depth, above) => {
        const wide = (width / 100) * pixels;
        if (wide < 2 || depth > 60) return;
        deepest = Math.max(deepest, depth);
        const own = frame.ns - frame.below.reduce((sum, { ns }) => sum + ns, 0), room = Math.floor((wide - 8) / CHAR);
        const words = `${frame.label} ${took(frame)}`;
        const label = room >= words.length ? words : room >= frame.label.length ? frame.label : room > 4 ? `${frame.label.slice(0, room - 1)}…` : "";
        const title = [frame.full, `${took(frame)}${frame.below.length && own > 0 && !frame.most ? `, ${time(own)} of it itself` : ""}, ×${number(frame.times)}`, frame.note].filter(Boolean).join("\n");
        const box = element("button", { type: "button", class: `${frame.lang ? `l-${frame.lang}` : "l-pass"}${frame.note ? " apart" : ""}`, style: `left:${left.toFixed(3)}%;width:${width.toFixed(3)}%;top:${depth * ROW}px`, title }, label);
        box.addEventListener("click", () => show([...path, ...above.slice(1), frame]));
        boxes.push(box);
        below(frame, left, width, depth + 1, [...above, frame]);
      };
      const below = (frame, left, width, depth, above) => {
        const sum = frame.below.reduce((all, { ns }) => all + ns, 0), scale = width / Math.max(frame.ns, sum, 1);
        let x = left;
        for (const each of frame.below) {
          put(each, x, each.ns * scale, depth, above);
          x += each.ns * scale;
        }
      };
      if (path.length === 1) below(whole, 0, 100, 0, [whole]);
      else put(top, 0, 100, 0, []);
      canvas.replaceChildren(...boxes);
      canvas.style.height = `${(deepest + 1) * ROW + 4}px`;
    }
    function show(chain) {
      path = chain;
      draw();
    }
    canvas.addEventListener("keydown", (event) => {
      if (event.key === "Escape" && path.length > 1) {
        event.stopPropagation();
        show(path.slice(0, -1));
        canvas.focus();
      }
    });
    let wide = 0;
    new ResizeObserver(() => {
      if (canvas.clientWidth !== wide) draw();
      wide = canvas.clientWidth;
    }).observe(canvas);
    draw();
  }

  function flames(section, run) {
    if (run.pass_stacks.length) flame(section, "By pass", "Below a pass stand those that it ran; a pass that ran several times at one place is one box. Click a box to enlarge it, Esc goes back.", passFrames(run), "all passes", "in those that no other pass ran");
    const calls = callFrames(run);
    if (calls.length) flame(section, "By call", "Functions, as wide as the measured time of FFI calls below them. A box stands below another only where that is sure: the run counted pairs of caller and callee, so a function that several others called ends its stacks (dashed), and what ran inside it begins a stack of its own. “≤”: calls of the function ran inside one another, and each counts whole. So stacks overlap in time, and there is no sum of them.", calls, counted(calls.filter(({ parent }) => parent < 0).length, "stack"), "");
    if (!run.pass_stacks.length && !calls.length) section.append(element("p", { class: "none" }, "The run has no times, neither of passes nor of FFI calls."));
  }

  // ---- Two runs -------------------------------------------------------------------------------------------------------

  function table(head, rows) {
    const made = element("table", { class: "list" }, element("thead", {}, element("tr", {}, ...head.map((word, at) => element("th", at ? { class: "num" } : {}, word)))));
    made.append(element("tbody", {}, ...rows.map((row) => element("tr", {}, ...row.map((cell, at) => element("td", at ? { class: "num" } : {}, cell))))));
    return made;
  }

  async function compare(section) {
    const runs = await xref.data("runs/index.js");
    const pick = (name, start) => {
      const select = element("select", { "aria-label": `Run ${name}` }, ...runs.map(([id, title]) => element("option", { value: id }, title)));
      select.value = start;
      return select;
    };
    const asked = new URLSearchParams(location.hash.slice(1)), ids = runs.map(([id]) => id);
    const a = pick("A", asked.get("a") || ids[1] || ids[0]), b = pick("B", asked.get("b") || ids[0]);
    const out = element("div");
    section.replaceChildren(element("p", { class: "pick" }, "A ", a, " B ", b), out);
    async function show() {
      history.replaceState(null, "", `#a=${encodeURIComponent(a.value)}&b=${encodeURIComponent(b.value)}`);
      const [one, two] = await Promise.all([a, b].map((select) => xref.data(runs.find(([id]) => id === select.value)[3])));
      out.replaceChildren(element("h2", {}, "Passes"), element("p", { class: "note" }, "Times include the passes inside; one that ran inside another of its name counts once."), passes(one, two), element("h2", {}, "Functions that ran in one of them only, or much more often"), functions(one, two));
    }
    a.addEventListener("change", show);
    b.addEventListener("change", show);
    if (runs.length) await show();
  }

  // A name that may break where a word in it begins.
  function named(label, href) {
    const parts = label.split(/(?<=[a-z0-9])(?=[A-Z])|(?<=::)/).flatMap((part, at) => (at ? [element("wbr"), part] : [part]));
    return href ? element("a", { class: "sym", href: xref.root + href }, ...parts) : element("span", { class: "sym" }, ...parts);
  }

  const FUNCTIONS = 300;  // that a comparison lists

  function passes(one, two) {
    const sum = (run) => new Map(run.totals.map(([name, href, times, changed, ns]) => [name, { href, times, changed, ns }]));
    const left = sum(one), right = sum(two);
    const rows = [...new Set([...left.keys(), ...right.keys()])].map((name) => [name, left.get(name), right.get(name)]);
    rows.sort((x, y) => Math.abs((y[1]?.ns || 0) - (y[2]?.ns || 0)) - Math.abs((x[1]?.ns || 0) - (x[2]?.ns || 0)));
    const both = (of) => (name, x, y) => [x, y].map((part) => (part ? of(part) : "–"));
    const took = both((part) => time(part.ns)), columns = [both((part) => number(part.times)), both((part) => (part.changed ? number(part.changed) : ""))];
    const ratio = (x, y) => (x && y && x.ns ? (y.ns / x.ns).toFixed(2) : !x ? "B only" : !y ? "A only" : "");
    return table(["pass", "time in A", "in B", "B : A", "ran in A", "in B", "changed the module in A", "in B"], rows.map(([name, x, y]) => [named(name, (x || y).href), ...took(name, x, y), ratio(x, y), ...columns.flatMap((column) => column(name, x, y))]));
  }

  function functions(one, two) {
    const sum = (run) => {
      const all = new Map();
      for (const [, to, count] of run.edges) all.set(run.hrefs[to] || run.labels[to], { label: run.labels[to], href: run.hrefs[to], count: (all.get(run.hrefs[to] || run.labels[to])?.count || 0) + count });
      return all;
    };
    const left = sum(one), right = sum(two);
    const rows = [...new Set([...left.keys(), ...right.keys()])].map((key) => [left.get(key) || right.get(key), left.get(key)?.count || 0, right.get(key)?.count || 0]);
    const odd = rows.filter(([, x, y]) => !x || !y || x / y > 2 || y / x > 2).sort((x, y) => Math.abs(y[1] - y[2]) - Math.abs(x[1] - x[2]));
    if (!odd.length) return element("p", { class: "none" }, "None: both runs called the same functions, about as often.");
    const made = table(["function", "calls in A", "in B"], odd.slice(0, FUNCTIONS).map(([part, x, y]) => [named(part.label, part.href), number(x), number(y)]));
    return odd.length > FUNCTIONS ? element("div", {}, element("p", { class: "note" }, `The first ${FUNCTIONS} of ${number(odd.length)}.`), made) : made;
  }

  document.querySelectorAll("[data-filter]").forEach(browse);
  document.querySelectorAll("[data-text]").forEach(words);
  document.querySelectorAll("[data-compare]").forEach(compare);
  document.querySelectorAll("[data-run]").forEach(async (section) => {
    const run = await xref.data(section.dataset.run);
    section.querySelectorAll("noscript").forEach((none) => none.remove());
    flames(section, run);
  });
})();
