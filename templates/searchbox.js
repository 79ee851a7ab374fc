// The search box: what search.js finds, as a list to choose from.
"use strict";

(() => {
  const { LONGEST } = xref;
  const PATIENCE = 80;  // milliseconds that the answers to the question before may stand
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

    // A list box must have options: what only says something is none.
    function show(open) {
      const some = options().length > 0;
      list.hidden = !open;
      list.setAttribute("role", some ? "listbox" : "group");
      input.setAttribute("aria-expanded", String(open && some));
    }

    function go(item) {
      if (item && item.dataset.url) location.href = xref.root + item.dataset.url;
    }

    const remark = (words) => xref.element("li", { class: "empty", role: "presentation" }, words);

    // What was found, in words.
    function outcome(query, results, similar) {
      const count = (value) => value.toLocaleString("en");
      if (query.length > LONGEST) return `A question has at most ${LONGEST} letters; this one has ${count(query.length)}.`;
      if (!results.total) {
        const none = /\s/.test(query) ? "Nothing has all these words in its name, class, file or parameters." : "No name, key or file like that.";
        return similar.length ? `${none} Names near it:` : none;
      }
      const { shown, total } = results;
      return total > shown ? `The first ${count(shown)} of ${count(total)} results` : `${count(total)} result${total === 1 ? "" : "s"}`;
    }

    // Answers to what stood there before must not be taken for answers.
    function wait(query) {
      list.replaceChildren(remark(`Searching ${query.slice(0, LONGEST)} …`));
      list.setAttribute("aria-busy", "true");
      status.textContent = "Searching";
      choose(-1);
      show(true);
    }

    async function update() {
      const query = input.value.trim(), mine = ++asked;
      if (!query) {
        list.replaceChildren();
        status.textContent = "";
        choose(-1);
        return show(false);
      }
      let results, similar = [];
      const slow = setTimeout(() => { if (mine === asked) wait(query); }, PATIENCE);
      try {
        results = await xref.find(query);
        if (!results.total && query.length <= LONGEST) similar = await xref.near(query);
      } catch (error) {
        if (mine !== asked) return;
        list.removeAttribute("aria-busy");
        choose(-1);
        list.replaceChildren(remark(`Search is not available: ${error.message}.`));
        status.textContent = "Search is not available";
        return show(true);
      } finally {
        clearTimeout(slow);
      }
      if (mine !== asked) return;
      list.removeAttribute("aria-busy");
      const words = outcome(query, results, similar);
      list.replaceChildren(...[...similar, ...results].flatMap((result, number) => {
        const made = option(result, number);
        return result.more ? [made, remark(result.more)] : [made];
      }));
      if (!results.total) list.prepend(remark(words));
      else if (results.total > results.shown) list.append(remark(`${words}: another word narrows them down.`));
      status.textContent = words;
      list.dataset.query = query;
      choose(0);
      show(true);
      if (goWhenReady) go(options()[active]);
      goWhenReady = false;
    }

    const warm = () => xref.everyName().then(xref.surroundings).catch(() => {});  // what fails is said when somebody asks
    input.addEventListener("focus", warm, { once: true });
    box.addEventListener("pointerenter", warm, { once: true });
    if (!navigator.connection?.saveData) {
      const idle = window.requestIdleCallback || ((then) => setTimeout(then, 500));
      setTimeout(() => { if (!document.hidden) idle(() => xref.everyName().catch(() => {})); }, 1200);
    }
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

  xref.searchBox = search(document.getElementById("search"));
})();
