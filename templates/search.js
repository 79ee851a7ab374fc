// What a search finds: names with camel humps, prefixes and parts of them, keys, files. The box is in searchbox.js.
"use strict";

(() => {
  const LIMIT = 60;
  const SHOWN = 40;
  const LONGEST = 200;  // letters of a question: no name is longer

  const escape = (text) => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");

  // "FuTIR" -> Fu[a-z0-9]*_?TIR : each hump of the query must begin a hump of the name, in order.
  function humps(query) {
    const parts = query.match(/[A-Z]+(?![a-z])|[A-Z]?[a-z0-9]+|[A-Z]/g);
    if (!parts || parts.length > 12) return null;  // nobody types more, and trying all ways to fit them takes long
    const loose = parts.map((part) => (/^[A-Z]{2,}$/.test(part) ? [...part].map(escape).join("[a-z0-9]*_?") : escape(part)));
    return new RegExp(loose.join("(?:[a-z0-9]*_?(?:[A-Z][a-z0-9]*_?)*?)"), "");
  }

  const humpsOf = (query) => (/[A-Z]/.test(query) ? humps(query) : null);

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

  // The best rows for a query; `literal`: only those in which it stands as it is.
  function best(rows, query, nameOf, lowerOf, weightOf, literal = false) {
    const low = query.toLowerCase();
    const pattern = literal ? null : humpsOf(query);
    const found = [];
    for (let i = 0; i < rows.length; i++) {
      const name = nameOf(rows[i], i);
      const result = score(name, lowerOf(rows[i], i), query, low, pattern);
      if (result) found.push({ i, name, rank: result[0], at: result[1], length: result[2], weight: weightOf(rows[i], i) });
    }
    found.sort((a, b) => a.rank - b.rank || a.name.length - b.name.length || b.weight - a.weight || (a.name < b.name ? -1 : 1));
    return found;
  }

  // A query like relax::FuseTIR or transform.FuseTIR: the last part is the name, the rest must end its scope.
  function split(query) {
    const parts = query.split(/::|\./);
    return { name: parts.pop(), scope: parts.filter(Boolean) };
  }

  // A name without the arguments of templates: `Map<String, Array<T>>::Get` -> `Map::Get`, also while they are typed.
  // What an operator is called is no argument.
  function plain(name) {
    const inner = /(?<!\boperator)(?<=\w) ?<[^<>]*(>|$)/g;
    let before;
    do [before, name] = [name, name.replace(inner, "")]; while (name !== before);
    return name;
  }

  function scopeFits(scope, wanted) {
    const own = plain(scope).split(/::|\./).filter(Boolean);
    return wanted.every((part, i) => {
      const mine = own[own.length - wanted.length + i];
      return mine !== undefined && mine.toLowerCase().startsWith(part.toLowerCase());
    });
  }

  // ---- Several words, in any order ------------------------------------------------------------------------------

  const FILE_WORD = /[/]|\.(cc|h|cu|mm|c|py|pyx|pxi)$/;
  const bare = (text) => text.toLowerCase().replace(/\s/g, "");

  // "fuse_tir VisitExpr_(const CallNode*)" -> words, of which each must stand in the name, the class or namespace, the
  // file or the parameters of a symbol, and what stands in parentheses. null: one word, which names something.
  function wordsOf(query) {
    const open = query.indexOf("(");
    const whole = (open < 0 ? query : query.slice(0, open)).trim().split(/\s+/).filter(Boolean);
    if (open < 0 && whole.length < 2) return null;
    const words = whole.flatMap((word) => (FILE_WORD.test(word) ? [word] : word.split(/::|\./))).filter(Boolean);
    const inside = open < 0 ? "" : bare(query.slice(open + 1).replace(/\)?\s*(const)?\s*$/, ""));
    return words.length ? { words: [...new Set(words)], inside } : null;
  }

  const placeOf = (path, line) => (path && line ? `${path}:${line}` : path);  // a module's line, and others', are not known

  const FAR = 255;

  // What it costs that a word stands there, the smaller the better: FAR where it does not.
  function partCost(text, low, exact, begins, inside) {
    const at = text.indexOf(low);
    return at < 0 ? FAR : at > 0 ? inside : text.length === low.length ? exact : begins;
  }

  function scopeCost(scope, low) {
    const parts = scope.split(/::|\./).filter(Boolean), last = parts.length - 1;
    let best = scope.includes(low) ? 9 : FAR;
    parts.forEach((part, at) => { best = Math.min(best, partCost(part, low, at === last ? 2 : 4, at === last ? 4 : 6, 9)); });
    return best;
  }

  function fileCost(path, low) {
    const base = path.slice(path.lastIndexOf("/") + 1);
    const best = partCost(base, low, 3, base[low.length] === "." ? 3 : 5, 7);
    return best < FAR ? best : path.includes(low) ? 9 : FAR;
  }

  // The same where the file itself is the answer: its folders count too.
  function pathCost(path, low) {
    const folders = path.split("/"), base = folders.pop();
    const best = folders.reduce((least, folder) => Math.min(least, partCost(folder, low, 2, 4, 6)), path.includes(low) ? 9 : FAR);
    return Math.min(best, partCost(base, low, 1, base[low.length] === "." ? 1 : 3, 5));
  }

  function keyCost(key, low) {
    let best = key.includes(low) ? 7 : FAR;
    for (const part of key.split(/[.:]/)) best = Math.min(best, partCost(part, low, 1, 3, 7));
    return best;
  }

  // The costs of one word for every name, scope, file and list of parameters; the words typed before are kept.
  function costsOf(word, data, around) {
    if (data.costs.has(word)) return data.costs.get(word);
    const low = word.toLowerCase(), pattern = humpsOf(word), flat = bare(word);
    const names = new Uint8Array(data.names.length).fill(FAR);
    if (!FILE_WORD.test(word)) {
      for (let i = 0; i < names.length; i++) {
        const found = score(data.names[i], data.lower[i], word, low, pattern);
        if (found) names[i] = Math.round(found[0]);
      }
    }
    const made = {
      names, scopes: Uint8Array.from(around.scopes, (scope) => scopeCost(scope, low)), files: Uint8Array.from(data.paths, (path) => fileCost(path, low)),
      params: Uint8Array.from(around.params, (params) => (params.includes(flat) ? 7 : FAR)),
    };
    if (data.costs.size > 12) data.costs.clear();
    data.costs.set(word, made);
    return made;
  }

  // What it costs that some words, or all of them, stand around the name only: all that stands in a class, or a file.
  const PARTLY = 3, NAMELESS = 9;

  // The symbols in which all words stand, the best first: [cost, name, which of the symbols of that name].
  function fitting(data, around, costs, inside) {
    const found = [];
    const open = inside && around.params.map((params) => params.includes(inside));
    for (let i = 0, row = 0; i < data.names.length; i++) {
      for (let nth = 0; nth < around.counts[i]; nth++, row++) {
        const file = around.file[row], scope = around.scope[row], params = around.param[row];
        if (open && !open[params]) continue;
        let sum = 0, named = 0;
        for (const cost of costs) {
          const name = cost.names[i];
          const least = Math.min(name, cost.scopes[scope], file < 0 ? FAR : cost.files[file], cost.params[params]);
          if (least === FAR) { sum = -1; break; }
          if (name < FAR) named++;
          sum += least;
        }
        if (sum < 0) continue;
        const made = data.names[i].startsWith("{") ? 2 : 0;  // a lambda, a static initialiser: named after something else
        found.push([sum + made + (named === costs.length ? 0 : named ? PARTLY : NAMELESS), i, nth]);
      }
    }
    return found.sort((a, b) => a[0] - b[0] || data.names[a[1]].length - data.names[b[1]].length || a[1] - b[1] || a[2] - b[2]);
  }

  // Keys or files in which all words stand.
  function whole(rows, words, costOf) {
    const found = [];
    rows.forEach((row, i) => {
      const costs = words.map((word) => costOf(row, word));
      if (!costs.includes(FAR)) found.push({ i, sum: costs.reduce((all, cost) => all + cost, 0) });
    });
    return found.sort((a, b) => a.sum - b.sum || a.i - b.i);
  }

  async function together({ words, inside }) {
    const data = await everyName(), around = await surroundings();
    const costs = words.map((word) => costsOf(word, data, around));
    let found = fitting(data, around, costs, inside);
    if (inside && !found.length) found = fitting(data, around, costs, "");  // not every function's parameters are known here
    const some = found.slice(0, 36);
    const rows = await Promise.all(some.map(([, i]) => details({ i }, data)));
    const results = some.map(([rank, i, nth], n) => {
      const [kind, lang, before, path, line, url, after] = rows[n][nth], name = data.names[i];
      const lit = words.map((word) => score(name, data.lower[i], word, word.toLowerCase(), humpsOf(word))).filter(Boolean).sort((a, b) => a[0] - b[0])[0];
      return { rank, kind, lang, before, hit: { name, at: lit ? lit[1] : 0, length: lit ? lit[2] : 0 }, after: after || "", place: placeOf(path, line), url };
    });
    const low = words.map((word) => word.toLowerCase());
    const keys = inside ? [] : whole(data.keys, low, (key, word) => Math.min(keyCost(key[0].toLowerCase(), word), key[1] === word ? 4 : FAR));
    const files = inside ? [] : whole(data.paths, low, pathCost);
    if (!inside) {
      for (const { i, sum } of keys.slice(0, 12)) {
        results.push({ rank: sum + PARTLY + 0.5, kind: `${data.keys[i][1]} key`, lang: "", before: "", hit: { name: data.keys[i][0], at: 0, length: 0 }, place: "", url: data.keys[i][2] });
      }
      for (const { i, sum } of files.slice(0, 12)) {
        const path = data.paths[i], named = low.some((word) => path.includes(word, path.lastIndexOf("/") + 1));
        results.push({ rank: sum + (named ? 0 : NAMELESS) + 0.4, kind: "file", lang: "", before: "", hit: { name: data.files[i][0], at: 0, length: 0 }, place: "", url: data.files[i][1] });
      }
    }
    results.sort((a, b) => a.rank - b.rank);
    return cut(results, found.length + keys.length + files.length);
  }

  // The first of some results; how many these are, and how many there are in all.
  function cut(results, total) {
    const first = results.slice(0, SHOWN);
    return Object.assign(first, { shown: first.length, total });
  }

  async function details(hit, data) {
    return (await xref.data(`search/${Math.floor(hit.i / data.per)}.js`))[hit.i % data.per];
  }

  // The names of the site, as `best` wants them.
  async function everyName() {
    const data = await xref.data("search/names.js");
    if (!data.lower) {
      data.lower = data.names ? data.names.toLowerCase().split("\n") : [];
      data.names = data.names ? data.names.split("\n") : [];
      data.paths = data.files.map(([path]) => path.toLowerCase());
      data.costs = new Map();
    }
    return data;
  }

  // Where the symbols of each name stand: needed only for questions of several words.
  async function surroundings() {
    const around = await xref.data("search/around.js");
    if (typeof around.scopes === "string") {
      around.scopes = around.scopes.toLowerCase().split("\n");
      around.params = around.params.split("\n").map(bare);
      let first = 0;
      around.first = Int32Array.from(around.counts, (count) => (first += count) - count);
      for (const part of ["file", "scope", "param"]) around[part] = Int32Array.from(around[part]);
    }
    return around;
  }

  const PLACE = /^(\S+\.\w+):(\d+)(?::\d+)?$/;  // as pages, commands and compilers print it
  const MODULE = /^(?:\w+\.)*_\w+\./;  // Python's private modules stand for C++: `_ffi_api.FuseTIR` is called like its key

  // The best results for a question, as `cut` gives them. Names have no arguments of templates in them, questions may.
  async function find(query) {
    if (query.length > LONGEST) return cut([], 0);
    const short = plain(query), found = await spelled(short);
    return found.length || short === query ? found : spelled(query);
  }

  async function spelled(query) {
    const [, file, line] = PLACE.exec(query) || [];
    const places = file ? (await find(file)).filter(({ kind }) => kind === "file") : [];
    if (places.length) return cut(places.map((place) => ({ ...place, url: `${place.url}#L${line}`, after: `:${line}` })), places.length);
    const several = wordsOf(query);
    if (!several) {
      const shown = await answers(query, false), words = query.split(/::|\./).filter(Boolean);
      if (shown.length || words.length < 2) return shown;
      const found = await together({ words, inside: "" });
      return found.length || !MODULE.test(query) ? found : find(query.replace(MODULE, ""));
    }
    const literal = await answers(query, true), found = await together(several);  // some names have spaces in them
    const seen = new Set(literal.map(({ url }) => url));
    const others = found.filter(({ url }) => !seen.has(url));
    return cut([...literal, ...others], literal.total + found.total - (found.length - others.length));
  }

  // What the query names; `literal`: only symbols that spell it as it stands.
  async function answers(query, literal) {
    const data = await everyName(), { name, scope } = literal ? { name: query, scope: [] } : split(query);
    const digit = (c) => parseInt(c, 36);
    const results = [];
    let names = name ? best(data.names, name, (n) => n, (_, i) => data.lower[i], (_, i) => digit(data.weights[i]), literal) : [];
    const around = await surroundings(), fit = new Map();
    const inScope = (row) => {
      const at = around.scope[row];
      if (!fit.has(at)) fit.set(at, scopeFits(around.scopes[at], scope));
      return fit.get(at);
    };
    const symbolsOf = ({ i }) => {
      if (!scope.length) return around.counts[i];
      let count = 0;
      for (let row = around.first[i]; row < around.first[i] + around.counts[i]; row++) count += inScope(row);
      return count;
    };
    if (scope.length) names = names.filter(symbolsOf);
    const symbols = names.reduce((sum, hit) => sum + symbolsOf(hit), 0);
    const keys = literal ? [] : best(data.keys, query, (k) => k[0], (k) => k[0].toLowerCase(), () => 0).filter((k) => scope.length || k.rank < 7);
    const slash = query.includes("/"), base = (path) => (slash ? path : path.slice(path.lastIndexOf("/") + 1));
    const files = literal ? [] : best(data.files, query, (f) => base(f[0]), (_, i) => base(data.paths[i]), () => 0).filter((f) => f.rank < 7);
    const some = names.slice(0, 24);
    const rows = await Promise.all(some.map((hit) => details(hit, data)));
    some.forEach((hit, n) => {
      const fitting = rows[n].filter((row) => !scope.length || scopeFits(row[2], scope));
      const most = some.length > 1 ? 6 : 30;
      for (const [kind, lang, around, path, line, url, after] of fitting.slice(0, most)) {
        results.push({ rank: hit.rank, kind, lang, before: around, hit, after: after || "", place: placeOf(path, line), url });
      }
      const more = fitting.length - most;
      if (more > 0) results[results.length - 1].more = `${more.toLocaleString("en")} more are called ${hit.name}: a class or a file beside it narrows them down`;
    });
    for (const hit of keys.slice(0, 12)) {
      results.push({ rank: hit.rank + (scope.length ? -0.1 : 0.5), kind: `${data.keys[hit.i][1]} key`, lang: "", before: "", hit, place: "", url: data.keys[hit.i][2] });
    }
    for (const hit of files.slice(0, 12)) {
      const [path, url] = data.files[hit.i];
      results.push({ rank: hit.rank + 0.4, kind: "file", lang: "", before: "", hit, place: slash ? "" : path, url });
    }
    results.sort((a, b) => a.rank - b.rank);  // stable: each list keeps its own order
    const shown = cut(results, symbols + keys.length + files.length);
    if (/^\w{3,}$/.test(query)) shown.push(everywhere(query));
    return shown;
  }

  // ---- Names that are nearly what was asked for ------------------------------------------------------------------

  // How many letters must be put in, left out, changed or swapped to make one word of another; above `most` it is not told.
  function distance(a, b, most) {
    let before = [], last = Array.from({ length: b.length + 1 }, (_, at) => at);
    for (let i = 1; i <= a.length; i++) {
      const row = [i];
      for (let j = 1; j <= b.length; j++) {
        row[j] = Math.min(last[j] + 1, row[j - 1] + 1, last[j - 1] + (a[i - 1] !== b[j - 1]));
        if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) row[j] = Math.min(row[j], before[j - 2] + 1);
      }
      if (Math.min(...row) > most) return most + 1;
      [before, last] = [last, row];
    }
    return last[b.length];
  }

  // Symbols whose names are nearly the one in a question: an array as of `find`.
  async function near(query, count = 6) {
    const data = await everyName(), low = split(query.slice(0, LONGEST).replace(/\(.*/, "").trim()).name.toLowerCase();
    const most = low.length < 4 ? 1 : low.length < 9 ? 2 : 3, found = [];
    for (let i = 0; low && i < data.lower.length; i++) {
      const name = data.lower[i];
      if (Math.abs(name.length - low.length) > most) continue;
      const far = distance(low, name, most);
      if (far <= most) found.push({ i, far, weight: parseInt(data.weights[i], 36) });
    }
    found.sort((a, b) => a.far - b.far || b.weight - a.weight || a.i - b.i);
    const some = await Promise.all(found.slice(0, count).map(async ({ i }) => {
      const [kind, lang, before, path, line, url, after] = (await details({ i }, data))[0];
      return { rank: 0, kind, lang, before, hit: { name: data.names[i], at: 0, length: 0 }, after: after || "", place: placeOf(path, line), url };
    }));
    return cut(some, found.length);
  }

  function everywhere(word) {
    const hit = { name: word, at: 0, length: word.length };
    return { rank: 9, kind: "everywhere in the text, comments and strings too", lang: "", before: "", hit, place: "", url: `text.html#q=${word}` };
  }

  Object.assign(xref, { find, near, everyName, surroundings, LONGEST });
})();
