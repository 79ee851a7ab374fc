// What every drawing does: filter by evidence, pan and zoom, keys.
"use strict";

(() => {
  const element = xref.element;

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
    });
    keys(canvas, bar);
    centre(canvas);
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

  // ---- Keys: a drawing is one stop of the Tab key, and inside it every box and every line can be reached -----------

  const HINT = "Arrows: box to box. Shift and arrows: the lines of a box. Enter: open. Esc: leave.";

  // What has the focus for a box or a line: its link, or itself where it leads nowhere.
  const holder = (group) => group.closest("a") || group;
  const shownEdges = (canvas) => [...canvas.querySelectorAll(".edge[data-e]")].filter((edge) => edge.style.display !== "none");
  const endsOf = (edge) => edge.dataset.e.split("-").map(Number);
  const middleOf = (thing) => {
    const box = thing.getBoundingClientRect();
    return [box.left + box.width / 2, box.top + box.height / 2];
  };

  // Take all inside out of the order of the Tab key; to be called again when the drawing is made anew.
  function reach(canvas) {
    canvas.querySelectorAll(".node, .edge").forEach((group) => holder(group).setAttribute("tabindex", "-1"));
    canvas.querySelectorAll("svg.timeline a, svg.boundary a").forEach((link) => link.setAttribute("tabindex", "-1"));
  }

  function keys(canvas, bar) {
    const about = element("span", { class: "note keys", role: "status" });
    bar.prepend(about);
    let side = 1;  // of the box whose lines are gone through: 1 those that leave it, -1 those that enter it
    reach(canvas);
    canvas.addEventListener("focusin", ({ target }) => {
      about.textContent = target === canvas ? HINT : describe(target);
    });
    // A box by its title, a line with what it joins.
    function describe(target) {
      const words = (target.getAttribute("aria-label") || target.querySelector("title")?.textContent || "").replace(/\n/g, ". ");
      const edge = target.closest(".edge") || target.querySelector(".edge");
      if (!edge) return words;
      const nodes = canvas.querySelectorAll(".node");
      return `${endsOf(edge).map((at) => nodes[at].querySelector("text").textContent).join(" → ")}: ${words}`;
    }
    canvas.addEventListener("focusout", () => { about.textContent = ""; });
    canvas.addEventListener("keydown", (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      const inside = document.activeElement !== canvas;
      if (event.key === "Escape" && inside) {
        event.stopPropagation();
        return canvas.focus();
      }
      if (!event.key.startsWith("Arrow") && event.key !== "Home" && event.key !== "End") return;
      event.preventDefault();
      const next = canvas.querySelector("svg.graph") ? step(event.key, event.shiftKey) : along(event.key);
      if (next) next.focus();
    });

    // A picture whose links have an order: a timeline, the boundary between languages.
    function along(key) {
      const links = [...canvas.querySelectorAll("svg a")], now = links.indexOf(document.activeElement);
      if (key === "Home" || key === "End") return links.at(key === "Home" ? 0 : -1);
      const by = key === "ArrowRight" || key === "ArrowDown" ? 1 : -1;
      return now < 0 ? links[0] : links[Math.max(0, Math.min(links.length - 1, now + by))];
    }

    function step(key, shift) {
      const nodes = [...canvas.querySelectorAll(".node")], holders = nodes.map(holder);
      const edges = shownEdges(canvas), active = document.activeElement;
      const by = { ArrowRight: 1, ArrowLeft: -1 }[key];
      if (key === "Home" || key === "End") return holders.at(key === "Home" ? 0 : -1);
      const edge = edges.find((one) => holder(one) === active);
      if (edge) {
        const [tail, head] = endsOf(edge);
        if (by) return holders[by > 0 ? head : tail];
        const beside = linesOf(edges, side > 0 ? tail : head, side), at = beside.indexOf(edge);
        return holder(beside[(at + (key === "ArrowDown" ? 1 : -1) + beside.length) % beside.length]);
      }
      const now = holders.indexOf(active);
      if (now < 0) return holders.find((_, at) => nodes[at].matches(".middle")) || holders[0];
      if (by && shift) {
        const lines = linesOf(edges, now, by);
        if (lines.length) side = by;
        return lines.length ? holder(lines[0]) : null;
      }
      const columns = columnsOf(holders);
      return by ? sideways(holders, edges, columns, now, by) : downwards(columns, holders[now], key === "ArrowDown" ? 1 : -1);
    }
  }

  // The lines that leave (1) or enter (-1) a box, from top to bottom by their other ends.
  function linesOf(edges, node, by) {
    const own = edges.filter((edge) => endsOf(edge)[by > 0 ? 0 : 1] === node);
    return own.sort((a, b) => middleOf(a)[1] - middleOf(b)[1]);
  }

  // The boxes from left to right, and from top to bottom where they stand one above the other.
  function columnsOf(holders) {
    const columns = [];
    for (const [x, y, one] of holders.map((one) => [...middleOf(one), one]).sort((a, b) => a[0] - b[0])) {
      const last = columns.at(-1);
      if (last && x - last.x < 24) last.boxes.push([y, one]);
      else columns.push({ x, boxes: [[y, one]] });
    }
    return columns.map(({ boxes }) => boxes.sort((a, b) => a[0] - b[0]).map(([, one]) => one));
  }

  // Down a column and on at the top of the next one, so that no box is left out.
  function downwards(columns, from, by) {
    const every = columns.flat();
    return every[(every.indexOf(from) + by + every.length) % every.length];
  }

  // Along a call; where none leads on, to the nearest box on that side.
  function sideways(holders, edges, columns, now, by) {
    const joined = new Set(edges.filter((edge) => endsOf(edge)[by > 0 ? 0 : 1] === now).map((edge) => endsOf(edge)[by > 0 ? 1 : 0]));
    const column = columns.findIndex((boxes) => boxes.includes(holders[now]));
    const near = joined.size ? holders.filter((_, at) => joined.has(at) && at !== now) : columns[column + by] || [];
    const [x, y] = middleOf(holders[now]);
    const far = (one) => Math.hypot(middleOf(one)[0] - x, middleOf(one)[1] - y);
    return [...near].sort((a, b) => far(a) - far(b))[0];
  }

  // A wide drawing opens at its middle.
  function centre(canvas) {
    const middle = canvas.querySelector(".middle rect");
    if (!middle || canvas.scrollWidth <= canvas.clientWidth) return;
    const box = middle.getBoundingClientRect(), frame = canvas.getBoundingClientRect();
    canvas.scrollLeft += box.left - frame.left + box.width / 2 - canvas.clientWidth / 2;
    canvas.scrollTop += box.top - frame.top + box.height / 2 - canvas.clientHeight / 2;
  }

  Object.assign(xref, { drawing: controls, centre, reach });
  document.querySelectorAll(".drawing").forEach((figure) => {
    if (figure.querySelector(".canvas > svg")) controls(figure);
  });
})();
