// The search box: names with camel humps, prefixes and parts of them, keys, files.
"use strict";

(() => {
  const LIMIT = 60;

  const escape = (text) => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");

  // "FuTIR" -> Fu[a-z0-9]*_?TIR : each hump of the query must begin a hump of the name, in order.
  function humps(query) {
    const parts = query.match(/[A-Z]+(?![a-z])|[A-Z]?[a-z0-9]+|[A-Z]/g);
    if (!parts) return null;
    const loose = parts.map((part) => (/^[A-Z]{2,}$/.test(part) ? [...part].map(escape).join("[a-z0-9]*_?") : escape(part)));
    return new RegExp(loose.join("(?:[a-z0-9]*_?(?:[A-Z][a-z0-9]*_?)*?)"), "");
  }

  // Words of `name` begin where the case or an underscore says so.
  function wordStart(name, at) {
    if (at === 0) return true;
    const before = name[at - 1], here = name[at];
    return !/[A-Za-z0-9]/.test(before) || (/[a-z0-9]/.test(before) && /[A-Z]/.test(here));
  }

  // A smaller score is better: exact, prefix, humps from the start, a word inside, humps inside, any part.
  function score(name, lower, query, low, pattern) {
    if (name === query) return [0, 0, name.length];
    if (lower === low) return [1, 0, name.length];
    if (lower.startsWith(low)) return [name.startsWith(query) ? 2 : 2.2, 0, low.length];
    const hump = pattern && pattern.exec(name);
    if (hump && hump.index === 0) return [4, 0, hump[0].length];
    let at = lower.indexOf(low);
    while (at > 0 && !wordStart(name, at)) {
      const next = lower.indexOf(low, at + 1);
      if (next < 0) break;
      at = next;
    }
    if (at > 0 && wordStart(name, at)) return [5, at, low.length];
    if (hump && wordStart(name, hump.index)) return [6, hump.index, hump[0].length];
    if (at >= 0) return [7, at, low.length];
    return null;
  }

  function best(rows, query, nameOf, lowerOf, weightOf) {
    const low = query.toLowerCase();
    const pattern = /[A-Z]/.test(query) ? humps(query) : null;
    const found = [];
    for (let i = 0; i < rows.length; i++) {
      const name = nameOf(rows[i], i);
      const result = score(name, lowerOf(rows[i], i), query, low, pattern);
      if (result) found.push({ i, name, rank: result[0], at: result[1], length: result[2], weight: weightOf(rows[i], i) });
    }
    found.sort((a, b) => a.rank - b.rank || a.name.length - b.name.length || b.weight - a.weight || (a.name < b.name ? -1 : 1));
    return found.slice(0, LIMIT);
  }

  // A query like relax::FuseTIR or transform.FuseTIR: the last part is the name, the rest must end its scope.
  function split(query) {
    const parts = query.split(/::|\./);
    return { name: parts.pop(), scope: parts.filter(Boolean) };
  }

  function scopeFits(scope, wanted) {
    const own = scope.split(/::|\./).filter(Boolean);
    return wanted.every((part, i) => {
      const mine = own[own.length - wanted.length + i];
      return mine !== undefined && mine.toLowerCase().startsWith(part.toLowerCase());
    });
  }

  // What names nothing as it stands: VisitExpr_(const CallNode*), fuse_tir.cc VisitExpr_, VisitExpr_ CallNode. A word is the
  // name; the parameters and the other words narrow it down: file, scope, parameters.
  function narrowed(query) {
    const bare = (text) => text.toLowerCase().replace(/\s/g, "");
    const open = query.indexOf("(");
    const words = (open < 0 ? query : query.slice(0, open)).trim().split(/\s+/).filter(Boolean);
    const isFile = (word) => /[/]|\.(cc|h|cu|mm|c|py|pyx|pxi)$/.test(word);
    const name = open < 0 ? words.find((word) => !isFile(word)) : words.filter((word) => !isFile(word)).pop();
    if (!name || (open < 0 && words.length < 2)) return null;
    const parameters = open < 0 ? "" : bare(query.slice(open + 1).replace(/\)?\s*$/, ""));
    const others = words.filter((word) => word !== name).map((word) => word.toLowerCase());
    const around = ([, , scope, path, , , after]) => others.every((word) => `${scope} ${path} ${after || ""}`.toLowerCase().includes(word));
    return { name, around, fits: (row) => bare(row[6] || "").includes(parameters) && around(row) };
  }

  async function details(hit, data) {
    return (await xref.data(`search/${Math.floor(hit.i / data.per)}.js`))[hit.i % data.per];
  }

  // The names of the site, as `best` wants them.
  async function everyName() {
    const data = await xref.data("search/names.js");
    if (!data.lower) {
      data.names = data.names ? data.names.split("\n") : [];
      data.lower = data.names.map((name) => name.toLowerCase());
    }
    return data;
  }

  async function find(query) {
    const shown = await answers(query, null);
    const less = shown.length ? null : narrowed(query);
    if (!less) return shown;
    const exact = await answers(less.name, less.fits);
    return exact.length ? exact : answers(less.name, less.around);  // not every function's parameters are known here
  }

  // What the query names; `fits` says whether a row is meant, null when all are.
  async function answers(query, fits) {
    const data = await everyName(), { name, scope } = split(query);
    const digit = (c) => parseInt(c, 36);
    const results = [];
    const names = name ? best(data.names, name, (n) => n, (_, i) => data.lower[i], (_, i) => digit(data.weights[i])) : [];
    const keys = fits ? [] : best(data.keys, query, (k) => k[0], (k) => k[0].toLowerCase(), () => 0).filter((k) => scope.length || k.rank < 7);
    const slash = query.includes("/");
    const files = fits ? [] : best(data.files, query, (f) => (slash ? f[0] : f[0].slice(f[0].lastIndexOf("/") + 1)),
      (f) => (slash ? f[0] : f[0].slice(f[0].lastIndexOf("/") + 1)).toLowerCase(), () => 0).filter((f) => f.rank < 7);
    const some = names.slice(0, scope.length || fits ? LIMIT : 24);
    const rows = await Promise.all(some.map((hit) => details(hit, data)));
    some.forEach((hit, n) => {
      const fitting = rows[n].filter((row) => (!scope.length || scopeFits(row[2], scope)) && (!fits || fits(row)));
      const most = some.length > 1 && !fits ? 6 : 30;
      for (const [kind, lang, around, path, line, url, after] of fitting.slice(0, most)) {
        results.push({ rank: hit.rank, kind, lang, before: around, hit, after: after || "", place: path && `${path}:${line}`, url });
      }
      const more = fitting.length - most;
      if (more > 0) results[results.length - 1].more = `${more} more are called ${hit.name}: write Class::${hit.name} to narrow it down`;
    });
    for (const hit of keys.slice(0, 12)) {
      results.push({ rank: hit.rank + (scope.length ? -0.1 : 0.5), kind: `${data.keys[hit.i][1]} key`, lang: "", before: "", hit, place: "", url: data.keys[hit.i][2] });
    }
    for (const hit of files.slice(0, 12)) {
      const [path, url] = data.files[hit.i];
      results.push({ rank: hit.rank + 0.4, kind: "file", lang: "", before: "", hit, place: slash ? "" : path, url });
    }
    results.sort((a, b) => a.rank - b.rank);  // stable: each list keeps its own order
    const shown = results.slice(0, 40);
    if (!fits && /^\w{3,}$/.test(query)) {
      const none = { name: query, at: 0, length: query.length };
      shown.push({ rank: 9, kind: "everywhere in the text, comments and strings too", lang: "", before: "", hit: none, place: "", url: `text.html#q=${query}` });
    }
    return shown;
  }

  const LANGUAGES = { cpp: "C++", python: "Python", cython: "Cython" };

  function option(result, number) {
    const { hit } = result, name = hit.name;
    const label = xref.element("span", { class: "sym" });
    if (result.before) label.append(xref.element("span", { class: "scope" }, result.before));
    label.append(name.slice(0, hit.at), xref.element("b", {}, name.slice(hit.at, hit.at + hit.length)), name.slice(hit.at + hit.length));
    if (result.after) label.append(xref.element("span", { class: "scope" }, result.after));
    const made = xref.element("li", { role: "option", id: `hit-${number}`, "aria-selected": "false" }, label, " ",
      xref.element("span", { class: "kind" }, result.kind), " ");
    if (result.lang) made.append(xref.element("span", { class: `lang ${result.lang}` }, LANGUAGES[result.lang] || result.lang));
    if (result.place) made.append(xref.element("span", { class: "place" }, result.place));
    made.dataset.url = result.url;
    return made;
  }

  function search(box) {
    const input = xref.element("input", {
      id: "q", type: "search", role: "combobox", "aria-expanded": "false", "aria-controls": "hits", "aria-autocomplete": "list",
      "aria-label": "Search names, keys and files", placeholder: "Search names, keys, files   ( / )", autocomplete: "off", spellcheck: "false",
      autocapitalize: "off",
    });
    const list = xref.element("ul", { id: "hits", role: "listbox", "aria-label": "Search results", hidden: "" });
    const status = xref.element("span", { class: "skip", role: "status" });
    box.setAttribute("role", "search");
    box.append(input, list, status);
    let active = -1, asked = 0, goWhenReady = false;

    const options = () => list.querySelectorAll("[role=option]");

    function choose(number) {
      const all = options();
      active = all.length ? (number + all.length) % all.length : -1;
      all.forEach((item, i) => item.setAttribute("aria-selected", String(i === active)));
      if (active < 0) return input.removeAttribute("aria-activedescendant");
      input.setAttribute("aria-activedescendant", all[active].id);
      all[active].scrollIntoView({ block: "nearest" });
    }

    function show(open) {
      list.hidden = !open;
      input.setAttribute("aria-expanded", String(open));
    }

    function go(item) {
      if (item && item.dataset.url) location.href = xref.root + item.dataset.url;
    }

    async function update() {
      const query = input.value.trim(), mine = ++asked;
      if (!query) {
        list.replaceChildren();
        status.textContent = "";
        choose(-1);
        return show(false);
      }
      let results;
      try {
        results = await find(query);
      } catch (error) {
        if (mine !== asked) return;
        list.replaceChildren(xref.element("li", { class: "empty" }, `Search is not available: ${error.message}.`));
        return show(true);
      }
      if (mine !== asked) return;
      list.replaceChildren(...results.flatMap((result, number) => {
        const made = option(result, number);
        return result.more ? [made, xref.element("li", { class: "empty", role: "presentation" }, result.more)] : [made];
      }));
      if (!results.length) list.append(xref.element("li", { class: "empty" }, "No name, key or file like that."));
      status.textContent = `${results.length} results`;
      list.dataset.query = query;
      choose(0);
      show(true);
      if (goWhenReady) go(options()[active]);
      goWhenReady = false;
    }

    input.addEventListener("focus", () => everyName().catch(() => {}), { once: true });
    input.addEventListener("input", update);
    input.addEventListener("focus", () => show(Boolean(list.firstChild)));
    input.addEventListener("keydown", (event) => {
      if (event.key === "ArrowDown" || event.key === "ArrowUp") {
        event.preventDefault();
        choose(active + (event.key === "ArrowDown" ? 1 : -1));
      } else if (event.key === "Enter") {
        if (list.dataset.query === input.value.trim()) go(options()[active]);
        else goWhenReady = true;
      } else if (event.key === "Escape") {
        if (list.hidden) input.blur();
        show(false);
      }
    });
    list.addEventListener("mousedown", (event) => event.preventDefault());
    list.addEventListener("click", (event) => go(event.target.closest("[role=option]")));
    document.addEventListener("click", (event) => { if (!box.contains(event.target)) show(false); });
    return input;
  }

  const box = document.getElementById("search");
  xref.find = find;
  xref.searchBox = search(box);
})();
