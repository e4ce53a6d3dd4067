"""The JavaScript of the page (search, sort, open the page of a rule). It makes no network requests."""

SCRIPT = """
"use strict";
(() => {
  const order = new Intl.Collator("en", { numeric: true });
  const make = (name, properties) => Object.assign(document.createElement(name), properties);

  const key = (row, at) => {
    const cell = row.cells[at];
    return cell.dataset.key ?? cell.textContent;
  };

  const compare = (one, other, isNumber) => {
    if (!isNumber) return order.compare(one, other);
    const [a, b] = [one, other].map((text) => (text === "?" ? -Infinity : Number(text)));
    return a < b ? -1 : a > b ? 1 : 0;
  };

  const sort = (table, at, isNumber) => {
    const heads = [...table.tHead.rows[0].cells];
    const was = heads[at].getAttribute("aria-sort");
    const first = isNumber ? "descending" : "ascending";
    const next = was === null ? first : was === "ascending" ? "descending" : "ascending";
    heads.forEach((head) => head.removeAttribute("aria-sort"));
    heads[at].setAttribute("aria-sort", next);
    const sign = next === "ascending" ? 1 : -1;
    const rows = [...table.tBodies[0].rows].map((row) => [key(row, at), row]);
    rows.sort((one, other) => sign * compare(one[0], other[0], isNumber));
    table.tBodies[0].append(...rows.map(([, row]) => row));
  };

  const search = (table) => {
    const rows = [...table.tBodies[0].rows];
    const texts = new Map();
    const input = make("input", { type: "search", autocomplete: "off", spellcheck: false });
    const label = make("label", { textContent: "Search " });
    const told = make("output", {});
    const tools = make("div", { className: "tools" });
    input.setAttribute("aria-controls", table.id);
    told.setAttribute("aria-live", "polite");
    const show = () => {
      const words = input.value.toLowerCase().split(/\\s+/).filter(Boolean);
      let count = 0;
      for (const row of rows) {
        if (words.length && !texts.has(row)) texts.set(row, row.textContent.toLowerCase());
        row.hidden = !words.every((word) => texts.get(row).includes(word));
        count += row.hidden ? 0 : 1;
      }
      told.textContent = words.length ? `${count} of ${rows.length} rows` : `${rows.length} rows`;
    };
    input.addEventListener("input", show);
    label.append(input);
    tools.append(label, told);
    table.parentElement.before(tools);
    told.textContent = `${rows.length} rows`;
  };

  for (const table of document.querySelectorAll("table.data")) {
    table.classList.remove("static");
    [...table.tHead.rows[0].cells].forEach((head, at) => {
      const button = make("button", { type: "button", textContent: head.textContent });
      const isNumber = table.tBodies[0].rows.length > 0 && table.tBodies[0].rows[0].cells[at].dataset.key !== undefined;
      button.addEventListener("click", () => sort(table, at, isNumber));
      head.replaceChildren(button);
    });
    search(table);
  }

  const open = () => {
    const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (target instanceof HTMLDetailsElement) target.open = true;
  };
  addEventListener("hashchange", open);
  open();

  let closed = [];
  addEventListener("beforeprint", () => {
    closed = [...document.querySelectorAll("details.rule:not([open]), details.fold:not([open])")];
    closed.forEach((each) => { each.open = true; });
  });
  addEventListener("afterprint", () => closed.forEach((each) => { each.open = false; }));
})();
"""
