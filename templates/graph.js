// Call graphs: filter by evidence, pan and zoom, keyboard; and drawings made here, for functions that have none made at
// build. Those are layered by calls, with files as groups, from the data that xref/site/graph_data.py writes.
"use strict";

(() => {
  const SVG = "http://www.w3.org/2000/svg";
  const CHAR = 7.25, SMALL = 6.05, PAD = 18, HIGH = 36, GAP = 10, TITLE = 18;
  const NEAR = 12, FAR = 3, STEP = 10;
  const WORDS = { cpp: "C++", python: "Python", cython: "Cython" };
  const element = xref.element;

  function shape(tag, attributes, ...children) {
    const made = document.createElementNS(SVG, tag);
    for (const [name, value] of Object.entries(attributes || {})) made.setAttribute(name, value);
    made.append(...children);
    return made;
  }

  const short = (text, limit = 30) => (text.length <= limit ? text : `${text.slice(0, limit / 2 - 1)}…${text.slice(limit / 2 - text.length)}`);

  // ---- The data ---------------------------------------------------------------------------------------------------

  class Graph {
    constructor(data, ran) {
      Object.assign(this, data);
      this.codes = data.codes.split(" ");
      for (const set of ["away", "wide", "tests"]) this[set] = new Set(data[set]);
      this.given = new Set(data.given.map(String));
      this.outlines = data.outlines.split(" ");
      this.labels = data.labels.split("\n");
      this.pages = data.pages.split(" ");
      this.number = new Map(this.codes.map((code, at) => [code, at]));
      const size = this.codes.length;
      this.start = new Int32Array(size + 1);
      for (let at = 0; at < size; at++) this.start[at + 1] = this.start[at] + data.out[at];
      this.from = new Int32Array(data.to.length);
      const enters = new Int32Array(size + 1);
      for (let at = 0; at < size; at++) {
        for (let edge = this.start[at]; edge < this.start[at + 1]; edge++) {
          this.from[edge] = at;
          enters[data.to[edge] + 1]++;
        }
      }
      for (let at = 0; at < size; at++) enters[at + 1] += enters[at];
      this.enter = enters.slice();
      this.incoming = new Int32Array(data.to.length);
      for (let edge = 0; edge < data.to.length; edge++) this.incoming[enters[data.to[edge]]++] = edge;
      this.counts = new Map();
      for (const triples of Object.values(ran)) {
        for (let at = 0; at < triples.length; at += 3) {
          const pair = triples[at] * size + triples[at + 1];
          this.counts.set(pair, Math.max(this.counts.get(pair) || 0, triples[at + 2]));
        }
      }
    }

    path(file) {
      const entry = this.files[file];
      return typeof entry === "string" ? entry : entry ? entry[0] : "(outside the tree)";
    }

    source(file, line) {
      const entry = this.files[file];
      if (!entry) return null;
      return `${typeof entry === "string" ? `source/${entry}.html` : entry[1]}${line ? `#L${line}` : ""}`;
    }

    address(node) {
      const code = this.codes[node], page = this.pages[node];
      const own = (of) => `s/${of[0]}/${of.slice(1)}.html`;
      if (page === ".") return own(code);
      if (page === "-") return `f/${this.outlines[this.file[node]]}.html#${code}`;
      return `${page.includes("/") ? page : own(page)}#${code}`;
    }

    site(edge) {
      return this.source(this.at[edge] === 0 ? this.file[this.from[edge]] : this.at[edge] - 1, this.line[edge]);
    }

    ran(edge) {
      return this.counts.get(this.from[edge] * this.codes.length + this.to[edge]) || 0;
    }

    callers(node) {
      return this.enter[node + 1] - this.enter[node];
    }

    // The edges that leave (by = 1) or enter (-1) a node, best first, one for each neighbour.
    around(node, by, allowed, focus) {
      const best = new Map();
      const take = (edge) => {
        const far = by > 0 ? this.to[edge] : this.from[edge];
        if (far === node || !allowed(this.ev[edge])) return;
        if (by > 0 && this.macro[edge] === "1") return;
        // What says little: code that runs whatever it is given, and what lies outside the usual scope.
        const caller = by > 0 ? node : far;
        if (this.given.has(this.ev[edge]) && caller !== focus && this.wide.has(caller)) return;
        if (this.away.has(this.file[far]) && !this.away.has(this.file[focus])) return;
        const crossing = this.lang[far] !== this.lang[node];
        const helper = by > 0 && !crossing && (this.quiet[far] === "1" || this.callers(far) > this.hub);
        if (helper || this.file[far] < 0) return;
        const rank = [crossing ? 0 : 1, this.ran(edge) ? 0 : 1, by < 0 && this.wide.has(far) ? 1 : 0, this.tests.has(this.file[far]) ? 1 : 0, this.evidence[this.ev[edge]][2], this.file[far] === this.file[node] ? 0 : 1, this.callers(far)];
        const known = best.get(far);
        if (!known || less(rank, known.rank)) best.set(far, { far, edge, rank });
      };
      if (by > 0) for (let edge = this.start[node]; edge < this.start[node + 1]; edge++) take(edge);
      else for (let at = this.enter[node]; at < this.enter[node + 1]; at++) take(this.incoming[at]);
      return [...best.values()].sort((a, b) => (less(a.rank, b.rank) ? -1 : less(b.rank, a.rank) ? 1 : a.far - b.far));
    }

    // A shortest chain of calls, as edges; null when there is none.
    route(start, goal, allowed, hops = 14) {
      const came = new Map([[start, -1]]);
      let edge, frontier = [start];
      while (frontier.length && hops-- > 0) {
        const next = [];
        for (const node of frontier) {
          for (edge = this.start[node]; edge < this.start[node + 1]; edge++) {
            const far = this.to[edge];
            if (came.has(far) || !allowed(this.ev[edge])) continue;
            came.set(far, edge);
            if (far === goal) {
              const chain = [];
              for (let at = goal; came.get(at) >= 0; at = this.from[came.get(at)]) chain.unshift(came.get(at));
              return chain;
            }
            next.push(far);
          }
        }
        frontier = next;
      }
      return null;
    }
  }

  function less(a, b) {
    for (let at = 0; at < a.length; at++) if (a[at] !== b[at]) return a[at] < b[at];
    return false;
  }

  let loaded = null;
  function graph() {
    loaded = loaded || Promise.all([xref.data("graph/edges.js"), xref.data("graph/ran.js")]).then(([data, ran]) => new Graph(data, ran));
    return loaded;
  }

  // ---- What a drawing shows ---------------------------------------------------------------------------------------

  class View {
    constructor(data, focus, allowed) {
      Object.assign(this, { data, focus, allowed, level: new Map([[focus, 0]]), edges: new Set(), more: [], room: new Map() });
    }

    limit(node, by) {
      const set = this.room.get(`${node},${by}`);
      if (set) return set;
      return node === this.focus ? NEAR : Math.sign(this.level.get(node)) === by && Math.abs(this.level.get(node)) === 1 ? FAR : 0;
    }

    build() {
      this.level = new Map([[this.focus, 0]]);
      this.edges.clear();
      this.more = [];
      for (const by of [-1, 1]) {
        let frontier = [this.focus];
        while (frontier.length) {
          const next = [];
          for (const node of frontier) {
            const limit = this.limit(node, by);
            const every = this.data.around(node, by, this.allowed, this.focus).filter(({ far }) => !this.level.has(far));
            for (const { far } of every.slice(0, limit)) {
              this.level.set(far, this.level.get(node) + by);
              next.push(far);
            }
            const rest = every.length - Math.min(limit, every.length);
            if (rest && Math.abs(this.level.get(node)) < 2) this.more.push({ node, by, rest });
          }
          frontier = next;
        }
      }
      for (const node of this.level.keys()) {
        for (const { far, edge } of this.data.around(node, 1, this.allowed, this.focus)) if (this.level.has(far)) this.edges.add(edge);
        for (const { far, edge } of this.data.around(node, -1, this.allowed, this.focus)) if (this.level.has(far)) this.edges.add(edge);
      }
      return this;
    }
  }

  // ---- Layout: a column for each step, files together, sorted to cross little --------------------------------------

  function layout(view) {
    const { data } = view;
    const boxes = new Map();
    for (const [node, level] of view.level) {
      const label = short(data.labels[node]), under = sub(data, node);
      boxes.set(`n${node}`, { id: `n${node}`, node, level, label, under, group: data.path(data.file[node]), width: Math.max(label.length * CHAR, (under.length + 1) * SMALL) + PAD });
    }
    for (const { node, by, rest } of view.more) {
      const label = `+${rest.toLocaleString("en")} more`;
      const id = `m${node},${by}`;
      boxes.set(id, { id, more: { node, by, rest }, level: view.level.get(node) + by, label, under: "", group: `~${data.path(data.file[node])}`, width: label.length * CHAR + PAD });
    }
    const lines = [...view.edges].map((edge) => ({ edge, tail: boxes.get(`n${data.from[edge]}`), head: boxes.get(`n${data.to[edge]}`) }));
    for (const { node, by } of view.more) {
      const own = boxes.get(`n${node}`), box = boxes.get(`m${node},${by}`);
      lines.push(by > 0 ? { edge: -1, tail: own, head: box } : { edge: -1, tail: box, head: own });
    }
    const columns = new Map();
    for (const box of boxes.values()) {
      if (!columns.has(box.level)) columns.set(box.level, []);
      columns.get(box.level).push(box);
    }
    const levels = [...columns.keys()].sort((a, b) => a - b);
    for (const column of columns.values()) place(column);
    for (let sweep = 0; sweep < 6; sweep++) {
      for (const level of sweep % 2 ? levels : levels.slice().reverse()) {
        for (const box of columns.get(level)) {
          const near = lines.filter(({ tail, head }) => tail === box || head === box).map(({ tail, head }) => (tail === box ? head : tail)).filter((other) => other.level !== level);
          box.want = near.length ? near.reduce((sum, other) => sum + other.y, 0) / near.length : box.y;
        }
        place(columns.get(level));
      }
    }
    let x = 14, height = 0;
    for (const level of levels) {
      const column = columns.get(level), wide = Math.max(...column.map((box) => box.width));
      for (const box of column) box.x = x + (wide - box.width) / 2;
      x += wide + 64;
      height = Math.max(height, ...column.map((box) => box.y + HIGH));
    }
    for (const column of columns.values()) {
      const down = (height - Math.max(...column.map((box) => box.y + HIGH)) - Math.min(...column.map((box) => box.y)) + TITLE) / 2;
      for (const box of column) box.y += Math.max(0, down);
    }
    return { boxes: [...boxes.values()], lines, width: x - 50, height: height + 14, levels, columns };
  }

  function place(column) {
    const groups = new Map();
    for (const box of column) {
      if (!groups.has(box.group)) groups.set(box.group, []);
      groups.get(box.group).push(box);
    }
    const wish = (box) => box.want ?? 0;
    const ordered = [...groups.values()];
    for (const group of ordered) group.sort((a, b) => wish(a) - wish(b));
    ordered.sort((a, b) => a.reduce((s, box) => s + wish(box), 0) / a.length - b.reduce((s, box) => s + wish(box), 0) / b.length);
    let y = 8;
    column.length = 0;
    for (const group of ordered) {
      y += TITLE;
      for (const box of group) {
        box.y = y;
        y += HIGH + GAP;
        column.push(box);
      }
      y += 8;
    }
  }

  function sub(data, node) {
    const params = data.params[node];
    const kind = data.kinds[data.kind[node]];
    return `${WORDS[["cpp", "python", "cython"][data.lang[node]]]} ${params && params.length > 2 ? short(params) : kind === "static_init" ? "static initialiser" : kind}`;
  }

  // ---- Drawing ----------------------------------------------------------------------------------------------------

  function draw(view, title) {
    const { data } = view, plan = layout(view);
    const svg = shape("svg", { class: "graph", role: "group", viewBox: `0 0 ${plan.width} ${plan.height}`, width: plan.width, height: plan.height, style: `min-width:${plan.width * 0.75}px` }, shape("title", {}, title));
    const names = [];  // of files: above the edges, which would strike them through
    for (const level of plan.levels) {
      const groups = new Map();
      for (const box of plan.columns.get(level)) if (!box.more) groups.set(box.group, [...(groups.get(box.group) || []), box]);
      for (const [path, inside] of groups) {
        const left = Math.min(...inside.map((box) => box.x)) - 7, top = inside[0].y - TITLE;
        const wide = Math.max(...inside.map((box) => box.x + box.width)) + 7 - left;
        const words = path.split("/").slice(-2).join("/");
        svg.append(shape("g", { class: "cluster" }, shape("rect", { x: left, y: top, width: wide, height: inside[inside.length - 1].y + HIGH + 6 - top })));
        names.push(shape("text", { class: "file", x: left + 7, y: top + 12 }, words.length * SMALL > wide ? `…${words.slice(-Math.floor(wide / SMALL) + 3)}` : words, shape("title", {}, path)));
      }
    }
    const order = new Map(plan.boxes.map((box, at) => [box, at]));
    for (const { edge, tail, head } of plan.lines) {
      const kind = edge < 0 ? "more" : data.evidence[data.ev[edge]][0];
      const forward = head.level > tail.level;
      const x1 = tail.x + tail.width, y1 = tail.y + HIGH / 2, x2 = forward ? head.x - 6 : head.x + head.width + 6, y2 = head.y + HIGH / 2;
      const bend = forward ? Math.max(30, (x2 - x1) / 2) : 46;
      const path = `M${x1} ${y1}C${x1 + bend} ${y1} ${forward ? x2 - bend : x2 + bend} ${y2} ${x2} ${y2}`;
      const tip = forward ? `M${x2 + 6} ${y2}l-7 -3v6Z` : `M${x2 - 6} ${y2}l7 -3v6Z`;
      const ran = edge < 0 ? 0 : data.ran(edge);
      const group = shape("g", { class: `edge t-${kind}${ran ? " counted" : ""}`, "data-e": `${order.get(tail)}-${order.get(head)}` }, shape("path", { d: path }), shape("path", { class: "head", d: tip }));
      if (ran) {
        group.append(shape("text", { x: (x1 + x2) / 2, y: (y1 + y2) / 2 - 4 }, `×${ran.toLocaleString("en")}`));
        group.style.setProperty("--weight", (2 + Math.log10(ran)).toFixed(1));
      }
      const href = edge < 0 ? null : data.site(edge);
      if (edge >= 0) group.prepend(shape("title", {}, `${data.evidence[data.ev[edge]][1]}${data.via[edge] ? ` ${data.via[edge]}` : ""}, line ${data.line[edge]}${ran ? `, ran ×${ran}` : ""}`));
      svg.append(href ? shape("a", { href: xref.root + href }, group) : group);
    }
    svg.append(...names);
    for (const box of plan.boxes) {
      const style = box.more ? "node t-more" : `node t-symbol l-${["cpp", "python", "cython"][data.lang[box.node]]}${box.node === view.focus ? " middle" : ""}`;
      const group = shape("g", { class: style }, shape("rect", { x: box.x, y: box.y + (box.more ? 7 : 0), width: box.width, height: box.more ? 22 : HIGH }),
        shape("text", { x: box.x + box.width / 2, y: box.y + (box.more ? 22 : 16) }, box.label));
      if (box.under) group.append(shape("text", { class: "sub", x: box.x + box.width / 2, y: box.y + 30 }, box.under));
      const link = shape("a", { href: box.more ? "#more" : xref.root + data.address(box.node) }, group);
      if (box.more) {
        link.setAttribute("role", "button");
        link.setAttribute("aria-label", `${box.more.rest} more ${box.more.by > 0 ? "callees" : "callers"} of ${data.labels[box.more.node]}`);
        link.dataset.more = `${box.more.node},${box.more.by}`;
      } else group.prepend(shape("title", {}, `${data.labels[box.node]}${data.params[box.node] || ""}, ${data.path(data.file[box.node])}`));
      svg.append(link);
    }
    return svg;
  }

  // ---- A figure: its filter, its buttons, its keys ------------------------------------------------------------------

  function controls(figure) {
    const canvas = figure.querySelector(".canvas");
    const hidden = new Set();
    let zoom = 1;
    const svg = () => canvas.querySelector("svg");

    function apply() {
      const drawn = svg();
      if (!drawn) return;
      if (zoom === 1) drawn.removeAttribute("style");
      else {
        drawn.style.width = `${drawn.getAttribute("width") * zoom}px`;
        drawn.style.maxWidth = "none";
      }
      drawn.querySelectorAll(".edge").forEach((edge) => {
        const off = [...edge.classList].some((word) => hidden.has(word));
        edge.style.display = off ? "none" : "";
      });
    }

    function scale(by) {
      const x = (canvas.scrollLeft + canvas.clientWidth / 2) / canvas.scrollWidth, y = (canvas.scrollTop + canvas.clientHeight / 2) / canvas.scrollHeight;
      zoom = by ? Math.max(0.2, Math.min(4, zoom * by)) : 1;
      apply();
      canvas.scrollLeft = x * canvas.scrollWidth - canvas.clientWidth / 2;
      canvas.scrollTop = y * canvas.scrollHeight - canvas.clientHeight / 2;
    }

    const bar = element("div", { class: "tools" });
    for (const [text, label, by] of [["+", "Zoom in", 1.25], ["−", "Zoom out", 0.8], ["1:1", "1:1, original size", 0]]) {
      const button = element("button", { type: "button", "aria-label": label, title: label }, text);
      button.addEventListener("click", () => scale(by));
      bar.append(button);
    }
    figure.insertBefore(bar, canvas);
    canvas.addEventListener("wheel", (event) => {
      if (!event.ctrlKey) return;
      event.preventDefault();
      scale(event.deltaY < 0 ? 1.15 : 0.87);
    }, { passive: false });
    pan(canvas);
    figure.querySelectorAll(".edge").forEach(({ parentNode }) => parentNode.matches("a") && parentNode.setAttribute("tabindex", "-1"));  // the arrow keys go along them
    figure.querySelectorAll(".legend").forEach((legend) => {
      const kind = [...legend.querySelector(".edge").classList].find((word) => word.startsWith("t-"));
      const box = element("input", { type: "checkbox", checked: "", "aria-label": `Show: ${legend.textContent.trim()}` });
      box.addEventListener("change", () => {
        if (box.checked) hidden.delete(kind);
        else hidden.add(kind);
        apply();
      });
      legend.prepend(box);
    });
    canvas.addEventListener("keydown", (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      if (event.key === "+" || event.key === "=") scale(1.25);
      else if (event.key === "-") scale(0.8);
      else if (event.key === "0") scale(0);
      else if (event.key.startsWith("Arrow") && walk(canvas, event.key)) event.preventDefault();
    });
    centre(canvas);
    return { bar, apply };
  }

  function pan(canvas) {
    let from = null;
    canvas.addEventListener("pointerdown", (event) => {
      if (event.button === 0 && !event.target.closest("a")) from = [event.clientX + canvas.scrollLeft, event.clientY + canvas.scrollTop];
    });
    addEventListener("pointermove", (event) => {
      if (!from) return;
      canvas.scrollLeft = from[0] - event.clientX;
      canvas.scrollTop = from[1] - event.clientY;
    });
    addEventListener("pointerup", () => { from = null; });
  }

  // Arrow keys: along calls to the right and left, up and down within a column.
  function walk(canvas, key) {
    const nodes = [...canvas.querySelectorAll(".node")], links = nodes.map((node) => node.closest("a"));
    const now = document.activeElement ? links.indexOf(document.activeElement) : -1;
    const middle = (link) => {
      const box = link.getBoundingClientRect();
      return [box.left + box.width / 2, box.top + box.height / 2];
    };
    if (now < 0) {
      const start = links.find((link) => link && link.querySelector(".middle")) || links.find(Boolean);
      if (start) start.focus();
      return Boolean(start);
    }
    const [x, y] = middle(links[now]);
    const by = { ArrowRight: 1, ArrowLeft: -1 }[key];
    let near = links.filter((link, at) => link && at !== now);
    if (by) {
      const joined = new Set();
      canvas.querySelectorAll(".edge[data-e]").forEach((edge) => {
        const ends = edge.dataset.e.split("-").map(Number);
        if (edge.style.display !== "none" && ends[by > 0 ? 0 : 1] === now) joined.add(ends[by > 0 ? 1 : 0]);
      });
      near = links.filter((link, at) => link && joined.has(at));
    } else {
      const down = key === "ArrowDown";
      near = near.filter((link) => Math.abs(middle(link)[0] - x) < 90 && (down ? middle(link)[1] > y + 4 : middle(link)[1] < y - 4));
    }
    near.sort((a, b) => Math.hypot(middle(a)[0] - x, middle(a)[1] - y) - Math.hypot(middle(b)[0] - x, middle(b)[1] - y));
    if (near[0]) near[0].focus();
    return true;
  }

  // A wide drawing opens at its middle.
  function centre(canvas) {
    const middle = canvas.querySelector(".middle rect");
    if (!middle || canvas.scrollWidth <= canvas.clientWidth) return;
    const box = middle.getBoundingClientRect(), frame = canvas.getBoundingClientRect();
    canvas.scrollLeft += box.left - frame.left + box.width / 2 - canvas.clientWidth / 2;
    canvas.scrollTop += box.top - frame.top + box.height / 2 - canvas.clientHeight / 2;
  }

  // ---- A drawing made here ------------------------------------------------------------------------------------------

  function legends(data, kinds) {
    return data.evidence.filter(([kind]) => kinds.has(kind)).map(([kind, words]) => {
      const sample = shape("svg", { class: "graph sample", width: 30, height: 10, "aria-hidden": "true" }, shape("g", { class: `edge t-${kind}` }, shape("path", { d: "M0 5H30" })));
      return element("label", { class: "legend" }, sample, ` ${words}`);
    });
  }

  // Fill a figure with the drawing around the symbol of a code.
  async function live(figure, code) {
    const data = await graph(), focus = data.number.get(code);
    const canvas = figure.querySelector(".canvas");
    if (focus === undefined) {
      canvas.replaceChildren(element("p", { class: "none" }, "No call of it is known."));
      return;
    }
    const off = new Set([String(data.weak)]);
    const view = new View(data, focus, (kind) => !off.has(kind));
    function show(keep) {
      const active = document.activeElement && document.activeElement.dataset && document.activeElement.dataset.more;
      canvas.replaceChildren(draw(view.build(), `Call graph of ${data.labels[focus]}`));
      if (!keep) centre(canvas);
      const again = active && canvas.querySelector(`[data-more="${active}"]`);
      if (again) again.focus();
    }
    show(false);
    const kinds = new Set([...view.edges].map((edge) => data.evidence[data.ev[edge]][0]));
    const caption = figure.querySelector("figcaption");
    caption.replaceChildren(...legends(data, kinds), " Left out: helpers, operators, macro expansions, and code that runs whatever it is given. “+N more” shows more.");
    if (!figure.querySelector(".tools")) controls(figure);
    canvas.addEventListener("click", (event) => {
      const link = event.target.closest("[data-more]");
      if (!link) return;
      event.preventDefault();
      const [node, by] = link.dataset.more.split(",").map(Number);
      view.room.set(`${node},${by}`, view.limit(node, by) + STEP);
      show(true);
    });
  }

  // Whether the site's files are at hand; elsewhere a reader asks for the graph, which is some megabytes.
  const isNear = /^(file:|http:\/\/(127\.|localhost))/.test(location.href);
  Object.assign(xref, { isNear, graph, live, graphControls: controls, legends, shape });
  document.querySelectorAll(".drawing").forEach((figure) => {
    const code = figure.dataset.live;
    if (!code) {
      if (figure.querySelector("svg.graph")) controls(figure);
      return;
    }
    const begin = () => live(figure, code).catch((error) => {
      figure.querySelector(".canvas").replaceChildren(element("p", { class: "none" }, `No drawing: ${error.message}.`));
    });
    if (xref.isNear) return void begin();
    const button = element("button", { type: "button" }, "Draw the call graph");
    button.addEventListener("click", begin);
    figure.querySelector(".canvas").replaceChildren(button);
  });
})();
