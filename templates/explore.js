// The page of the call graph: a drawing around any function, and the shortest chain of calls between two.
"use strict";

(() => {
  const element = xref.element;
  const page = document.querySelector("[data-explore]");
  const figure = page.querySelector(".drawing");
  const list = page.querySelector("#chain");
  const examples = page.querySelector("#examples");

  // A box in which names are completed.
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
      // The code of what was chosen from the list, or shown by `set`; of what is no function of the graph the text, which
      // an address may hold as well.
      value(data) {
        const text = input.value.trim(), code = codes.get(text);
        return data.number.has(code) ? code : text;
      },
      set(text, code) {
        input.value = text;
        if (code) codes.set(text, code);
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
    return at ? element("a", { class: "place", href: xref.root + at }, data.line[edge] ? `${file}:${data.line[edge]}` : file) : file;
  }

  const MOST = 24;  // functions of a drawing of chains
  const some = (count, noun) => `${count.toLocaleString("en")} ${noun}${count === 1 ? "" : "s"}`;
  const none = (...words) => element("p", { class: "none" }, ...words);
  const named = (data, node) => data.labels[node] + (data.params[node] || "");
  const link = (data, node) => element("a", { class: "sym", href: xref.root + data.address(node) }, named(data, node));
  const chainLink = (from, to, words) => element("a", { href: `#from=${from}&to=${to}` }, words);

  // Say what there is to say above the drawing.
  function say(...parts) {
    list.hidden = !parts.length;
    list.replaceChildren(...parts);
  }

  function callItem(data, edge) {
    const ran = data.ran(edge), [kind, words] = data.evidence[data.ev[edge]];
    const item = element("li", {}, element("i", { class: kind }, words), data.via[edge] ? element("span", { class: "key" }, ` ${data.via[edge]}`) : "", " → ", link(data, data.to[edge]), " ", element("span", { class: "note" }, "called at "), callSite(data, edge));
    if (ran) item.append(element("span", { class: "ran" }, ` ×${ran.toLocaleString("en")}`));
    return item;
  }

  // The shortest chains between two functions, as a list and as a drawing; what there is to say where there is none.
  function chain(data, start, goal) {
    const sure = (kind) => kind !== String(data.weak), any = () => true;
    const strong = data.chains(start, goal, sure, MOST), found = strong || data.chains(start, goal, any, MOST);
    if (!found) {
      const back = data.chains(goal, start, sure, MOST), codes = [goal, start].map((node) => data.codes[node]);
      say(none("No chain of calls leads from ", link(data, start), " to ", link(data, goal), " in at most 14 calls.", ...(back ? [" One leads the other way: ", chainLink(...codes, some(back.best.length, "call")), "."] : [])));
      return;
    }
    const heading = found.count === 1 ? "The shortest chain" : `A shortest chain, one of ${found.count.toLocaleString("en")}`;
    say(element("h2", {}, `${heading}: ${some(found.best.length, "call")}`),
      element("ol", { class: "chain" }, element("li", {}, link(data, start)), ...found.best.map((edge) => callItem(data, edge))));
    if (!strong) list.append(element("p", { class: "note" }, "It needs at least one call that is known by name only, a guess."));
    canvas("Chains of calls");
    const drawn = found.count === 1 ? " The shortest chain." : ` The shortest chains${found.level.size >= MOST - 1 ? `, as far as ${MOST} functions hold them` : ""}.`;
    xref.chainsOf(figure, data, found, drawn);
  }

  // A fresh place for a drawing: what the one before listened to goes with it.
  function canvas(label) {
    figure.hidden = false;
    figure.querySelector(".canvas").replaceWith(element("div", { class: "canvas", tabindex: "0", role: "region", "aria-label": label }));
    figure.querySelector(".tools")?.remove();
  }

  // A function by what an address says: its code, or a name that somebody wrote there.
  async function functionOf(data, text) {
    if (data.number.has(text)) return data.number.get(text);
    const hit = (await xref.find(text)).find(({ url }) => /^[sf]\//.test(url) && data.number.has(codeOf(url)));
    return hit ? data.number.get(codeOf(hit.url)) : null;
  }

  // Why a name leads to no function of the graph, and which names are near it.
  async function unknown(data, text, linkTo) {
    const hit = (await xref.find(text)).find(({ url }) => /^[sf]\//.test(url));
    if (hit) return none(element("a", { class: "sym", href: xref.root + hit.url }, title(hit)), ` is a ${hit.kind} that no call leads to or from, as far as the index knows, so no chain does.`);
    const near = (await xref.near(text)).map(({ url, ...hit }) => ({ ...hit, code: codeOf(url) })).filter(({ code }) => data.number.has(code));
    const words = near.flatMap((hit, at) => [at ? ", " : "", element("a", { class: "sym", href: `#${linkTo(hit.code)}` }, title(hit))]);
    return none(`No function is called “${text}”. `, ...(near.length ? ["Names near it: ", ...words, "."] : ["Type a few letters of a name and choose from the list."]));
  }

  async function show() {
    const asked = new URLSearchParams(location.hash.slice(1));
    const from = asked.get("from") || asked.get("of"), to = asked.get("to");
    say();
    if (!from && !to) return sample();
    const data = await xref.graph();
    const ends = await Promise.all([from, to].map((text) => (text ? functionOf(data, text) : undefined)));
    if (asked.toString() !== new URLSearchParams(location.hash.slice(1)).toString()) return;  // asked for another meanwhile
    ends.forEach((node, at) => (typeof node === "number" ? boxes[at].set(named(data, node), data.codes[node]) : boxes[at].set([from, to][at] || "")));
    const [start, goal] = ends;
    figure.hidden = true;
    if (start === null || goal === null) {
      const code = (node) => (typeof node === "number" ? data.codes[node] : "");
      if (start === null) list.append(await unknown(data, from, (near) => (to ? `from=${near}&to=${code(goal) || encodeURIComponent(to)}` : `of=${near}`)));
      if (goal === null) list.append(await unknown(data, to, (near) => `from=${code(start) || encodeURIComponent(from || "")}&to=${near}`));
      list.hidden = false;
    } else if (start === undefined) say(none("Where does the chain begin? The first box is empty."));
    else if (goal === undefined) await draw(data.codes[start]);
    else if (start === goal) {
      say(none("Both ends are ", link(data, start), ": a chain leads from one function to another. Drawn is what is around it."));
      await draw(data.codes[start]);
    } else chain(data, start, goal);
  }

  async function draw(code) {
    const data = await xref.graph();
    canvas(`Call graph of ${data.labels[data.number.get(code)] || ""}`);
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
    const data = await xref.graph(), [from, to] = boxes.map(({ value }) => value(data));
    const hash = `#${new URLSearchParams(to ? { from, to } : { of: from })}`;
    if (location.hash === hash) show();
    else location.hash = hash;
  });
  page.querySelector("noscript").replaceWith(form);
  if (examples) {
    examples.hidden = false;
    examples.before(element("p", { class: "note" }, "To begin with:"));
  }
  addEventListener("hashchange", show);
  show();
})();
