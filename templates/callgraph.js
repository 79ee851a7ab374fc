// The call graph as data, from what xref/site/graph_data.py writes: neighbours that tell something, chains of calls.
"use strict";

(() => {
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

    // The shortest chains of calls: { best: edges of the one that is surest, count: how many there are, level: how many
    // calls lead to each function on one of them, edges: one for each pair }; null when there is none. Of many chains at
    // most `most` functions, those of the surest first.
    chains(start, goal, allowed, most, hops = 14) {
      const far = this.distances(start, goal, allowed, hops), length = far.get(goal);
      if (length === undefined) return null;
      // Backwards from the goal: the calls that shorten the way, each with the number of chains that it is on.
      const next = new Map(), layers = [[goal]];
      for (let left = length; left > 0; left--) {
        const layer = new Set();
        for (const node of layers[0]) {
          for (let at = this.enter[node]; at < this.enter[node + 1]; at++) {
            const edge = this.incoming[at], from = this.from[edge];
            if (far.get(from) !== far.get(node) - 1 || !allowed(this.ev[edge])) continue;
            if (!next.has(from)) next.set(from, new Map());
            const known = next.get(from).get(node);
            if (known === undefined || less(this.worth(edge), this.worth(known))) next.get(from).set(node, edge);
            layer.add(from);
          }
        }
        layers.unshift([...layer]);
      }
      const count = new Map([[goal, 1]]), cost = new Map([[goal, 0]]), onward = new Map();
      for (const layer of layers.slice(0, -1).reverse()) {
        for (const node of layer) {
          const ways = [...next.get(node)].map(([to, edge]) => ({ to, edge, cost: cost.get(to) + 1000 * this.worth(edge)[0] + this.worth(edge)[1] }));
          ways.sort((a, b) => a.cost - b.cost || a.to - b.to);
          onward.set(node, ways);
          count.set(node, ways.reduce((sum, { to }) => sum + count.get(to), 0));
          cost.set(node, ways[0].cost);
        }
      }
      const level = new Map(), edges = new Set();
      // Chain after chain, the surest first, as long as there is room for all of its functions.
      const add = (node, first) => {
        const chain = [];
        for (let at = node, way = first; way; at = way.to, way = onward.get(at)?.[0]) chain.push({ node: at, ...way });
        const fresh = chain.filter(({ to }) => !level.has(to)).length;
        if (level.size && level.size + fresh > most) return chain;
        level.set(start, 0);
        for (const { to, edge } of chain) {
          level.set(to, far.get(to));
          edges.add(edge);
        }
        return chain;
      };
      const best = add(start, onward.get(start)[0]).map(({ edge }) => edge);
      for (let turned = true; turned;) {
        turned = false;
        for (const node of [...level.keys()]) {
          for (const way of onward.get(node) || []) {
            if (edges.has(way.edge)) continue;
            const before = edges.size;
            add(node, way);
            turned ||= edges.size > before;
          }
        }
      }
      return { best, count: count.get(start), level, edges };
    }

    // How many calls lead from a function to those around it, up to the distance of the goal.
    distances(start, goal, allowed, hops) {
      const far = new Map([[start, 0]]);
      for (let frontier = [start]; frontier.length && hops-- > 0 && !far.has(goal);) {
        const next = [];
        for (const node of frontier) {
          for (let edge = this.start[node]; edge < this.start[node + 1]; edge++) {
            const to = this.to[edge];
            if (far.has(to) || !allowed(this.ev[edge])) continue;
            far.set(to, far.get(node) + 1);
            next.push(to);
          }
        }
        frontier = next;
      }
      return far;
    }

    // The smaller, the more a call tells: one that ran, then by its evidence.
    worth(edge) {
      return [this.ran(edge) ? 0 : 1, this.evidence[this.ev[edge]][2]];
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

  Object.assign(xref, { graph });
})();
