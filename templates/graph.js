// Drawings made in the browser: around functions that have none made at build, and of chains of calls. Layered by calls,
// with files as groups.
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

  // As drawings made at build have it: drawing.py, short_label.
  function short(text, limit = 30) {
    if (text.length <= limit) return text;
    const purpose = text.endsWith("}") ? text.length - text.lastIndexOf("::{") : 0;
    const end = limit / 2 < purpose && purpose <= limit - 6 ? purpose : limit / 2;
    return `${text.slice(0, limit - end - 1)}…${text.slice(-end)}`;
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
      if (edge >= 0) group.prepend(shape("title", {}, `${data.evidence[data.ev[edge]][1]}${data.via[edge] ? ` ${data.via[edge]}` : ""}${data.line[edge] ? `, line ${data.line[edge]}` : ""}${ran ? `, ran ×${ran}` : ""}`));
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

  // ---- A drawing made here ------------------------------------------------------------------------------------------

  function legends(data, kinds) {
    return data.evidence.filter(([kind]) => kinds.has(kind)).map(([kind, words]) => {
      const sample = shape("svg", { class: "graph sample", width: 30, height: 10, "aria-hidden": "true" }, shape("g", { class: `edge t-${kind}` }, shape("path", { d: "M0 5H30" })));
      return element("label", { class: "legend" }, sample, ` ${words}`);
    });
  }

  function caption(figure, view, words) {
    const kinds = new Set([...view.edges].map((edge) => view.data.evidence[view.data.ev[edge]][0]));
    figure.querySelector("figcaption").replaceChildren(...legends(view.data, kinds), words);
  }

  // Fill a figure with the functions and calls of some chains, the first function on the left.
  function chainsOf(figure, data, { level, edges }, words) {
    const view = { data, focus: [...level.keys()].find((node) => level.get(node) === 0), level, edges, more: [] };
    figure.querySelector(".canvas").replaceChildren(draw(view, "Chains of calls"));
    caption(figure, view, words);
    xref.drawing(figure);
  }

  // Fill a figure with the drawing around the symbol of a code.
  async function live(figure, code) {
    const data = await xref.graph(), focus = data.number.get(code);
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
      xref.reach(canvas);
      if (!keep) xref.centre(canvas);
      const again = active && canvas.querySelector(`[data-more="${active}"]`);
      if (again) again.focus();
    }
    show(false);
    caption(figure, view, " Left out: helpers, operators, macro expansions, and code that runs whatever it is given. “+N more” shows more.");
    if (!figure.querySelector(".tools")) xref.drawing(figure);
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
  Object.assign(xref, { isNear, live, chainsOf });
  document.querySelectorAll(".drawing[data-live]").forEach((figure) => {
    const begin = () => live(figure, figure.dataset.live).catch((error) => {
      figure.querySelector(".canvas").replaceChildren(element("p", { class: "none" }, `No drawing: ${error.message}.`));
    });
    if (isNear) return void begin();
    const button = element("button", { type: "button" }, "Draw the call graph");
    button.addEventListener("click", begin);
    figure.querySelector(".canvas").replaceChildren(button);
  });
})();
