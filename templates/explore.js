// The page of the call graph: a drawing around any function, and the shortest chain of calls between two.
"use strict";

(() => {
  const element = xref.element;
  const page = document.querySelector("[data-explore]");
  const figure = page.querySelector(".drawing");
  const list = page.querySelector("#chain");
  const examples = page.querySelector("#examples");

  // A box in which names are completed; it answers with the code of a symbol.
  function picker(name, words) {
    const input = element("input", { id: `pick-${name}`, list: `names-${name}`, placeholder: "name, Class::name, module.name", autocomplete: "off", spellcheck: "false" });
    const names = element("datalist", { id: `names-${name}` });
    const codes = new Map();
    input.addEventListener("input", async () => {
      const query = input.value.trim();
      if (query.length < 2 || codes.has(query)) return;
      const found = (await xref.find(query)).filter((hit) => /^[sf]\//.test(hit.url));
      for (const hit of found) codes.set(title(hit), codeOf(hit.url));
      names.replaceChildren(...found.slice(0, 20).map((hit) => element("option", { value: title(hit) })));
    });
    return {
      box: element("label", {}, `${words} `, input, names),
      input,
      async code() {
        const text = input.value.trim();
        if (!codes.has(text)) {
          const hit = (await xref.find(text)).find(({ url }) => /^[sf]\//.test(url));
          if (!hit) return null;
          codes.set(text, codeOf(hit.url));
        }
        return codes.get(text);
      },
    };
  }

  const title = (hit) => `${hit.before}${hit.hit.name}${hit.after}`;
  const codeOf = (url) => {
    const [path, anchor] = url.split("#");
    return anchor || path.replace(/^s\/|\/|\.html$/g, "");
  };

  function callSite(data, edge) {
    const at = data.site(edge);
    const file = data.path(data.at[edge] === 0 ? data.file[data.from[edge]] : data.at[edge] - 1);
    return at ? element("a", { class: "place", href: xref.root + at }, `${file}:${data.line[edge]}`) : file;
  }

  async function chain(from, to) {
    const data = await xref.graph(), start = data.number.get(from), goal = data.number.get(to);
    const names = (node) => element("a", { class: "sym", href: xref.root + data.address(node) }, data.labels[node] + (data.params[node] || ""));
    const strong = start === undefined || goal === undefined ? null : data.route(start, goal, (kind) => kind !== String(data.weak));
    const edges = strong || (start === undefined || goal === undefined ? null : data.route(start, goal, () => true));
    list.hidden = false;
    if (!edges) {
      list.replaceChildren(element("p", { class: "none" }, "No chain of calls leads from the one to the other in at most 14 steps."));
      return;
    }
    const items = edges.map((edge) => {
      const ran = data.ran(edge), [kind, words] = data.evidence[data.ev[edge]];
      const item = element("li", {}, element("i", { class: kind }, words), data.via[edge] ? element("span", { class: "key" }, ` ${data.via[edge]}`) : "", " → ", names(data.to[edge]), " ", element("span", { class: "note" }, "called at "), callSite(data, edge));
      if (ran) item.append(element("span", { class: "ran" }, ` ×${ran.toLocaleString("en")}`));
      return item;
    });
    list.replaceChildren(element("h2", {}, `A shortest chain: ${edges.length} call${edges.length === 1 ? "" : "s"}`),
      element("ol", { class: "chain" }, element("li", {}, names(start)), ...items));
    if (!strong) list.append(element("p", { class: "note" }, "It needs at least one call that is known by name only, a guess."));
  }

  async function show() {
    const asked = new URLSearchParams(location.hash.slice(1));
    const from = asked.get("from"), to = asked.get("to"), of = asked.get("of") || from;
    list.hidden = true;
    list.replaceChildren();
    if (!of) return sample();
    const data = await xref.graph();
    const label = (code) => data.labels[data.number.get(code)] || "";
    if (from) boxes[0].input.value = label(from);
    if (to) boxes[1].input.value = label(to);
    if (!from) boxes[0].input.value = label(of);
    if (from && to) await chain(from, to);
    await draw(of);
  }

  async function draw(code) {
    const data = await xref.graph(), label = data.labels[data.number.get(code)] || "";
    figure.hidden = false;
    const fresh = element("div", { class: "canvas", tabindex: "0", role: "region", "aria-label": `Call graph of ${label}` });
    figure.querySelector(".canvas").replaceWith(fresh);
    const tools = figure.querySelector(".tools");
    if (tools) tools.remove();
    await xref.live(figure, code);
  }

  // An empty page says little: the first example is drawn, where no megabytes must be fetched for it.
  async function sample() {
    const link = examples && examples.querySelector("a");
    if (!link || !xref.isNear) {
      figure.hidden = true;
      return;
    }
    list.replaceChildren(element("p", { class: "note" }, "For example, the calls around ", link.cloneNode(true), ":"));
    list.hidden = false;
    await draw(new URLSearchParams(link.hash.slice(1)).get("of"));
  }

  const boxes = [picker("from", "From"), picker("to", "to")];
  const go = element("button", { type: "submit" }, "Show");
  const form = element("form", { class: "pick" }, boxes[0].box, " ", boxes[1].box, " ", go, element("span", { class: "note" }, " Leave the second empty for the drawing around the first."));
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const from = await boxes[0].code(), to = boxes[1].input.value.trim() ? await boxes[1].code() : "";
    if (from === null || to === null) {
      list.hidden = false;
      list.replaceChildren(element("p", { class: "none" }, "No function is called that: type a few letters and choose from the list."));
      return;
    }
    location.hash = to ? `from=${from}&to=${to}` : `of=${from}`;
  });
  page.querySelector("noscript").replaceWith(form);
  if (examples) {
    examples.hidden = false;
    examples.before(element("p", { class: "note" }, "To begin with:"));
  }
  addEventListener("hashchange", show);
  show();
})();
