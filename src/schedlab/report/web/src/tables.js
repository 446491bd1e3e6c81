// Tables that sort, filter and copy as CSV: those of the printed page and those that the script makes.

import { element, name } from "./dom.js";

const ENOUGH_TO_FILTER = 8;

/** Let a table of the page be sorted, filtered and copied. */
export function enhance(table) {
  const heads = [...table.tHead.rows[0].cells], body = table.tBodies[0];
  heads.forEach((head, column) => {
    const button = element("button", { type: "button", class: "sl-sort" });
    button.append(...head.childNodes);
    head.append(button);
    if (head.dataset.term) head.append(what(head.dataset.term, button.textContent.trim()));
    button.addEventListener("click", () => {
      const down = head.getAttribute("aria-sort") === "ascending";
      heads.forEach((each) => each.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", down ? "descending" : "ascending");
      body.append(...sortRows([...body.rows], column, down));
    });
  });
  const tools = element("p", { class: "sl-tools" });
  if (body.rows.length >= ENOUGH_TO_FILTER) {
    const input = element("input", { type: "search", placeholder: "Filter rows", "aria-label": "Filter rows" });
    input.addEventListener("input", () => {
      const wanted = input.value.toLowerCase();
      for (const row of body.rows) row.hidden = !row.textContent.toLowerCase().includes(wanted);
    });
    tools.append(input);
  }
  tools.append(copyButton(() => csvOf(table)));
  (table.closest(".scroll") ?? table).after(tools);
}

/** The button beside a head that opens its definition. */
export function what(key, title) {
  return element("button", { type: "button", class: "sl-what", "data-term": key, "aria-label": `What is ${title}?` }, "?");
}

function sortRows(rows, column, down) {
  const value = (row) => cellValue(row.cells[column]);
  return rows.map((row) => [row, value(row)]).sort(([, a], [, b]) => {
    // What has no value comes last either way.
    if (a === "" || b === "") return (a === "") - (b === "");
    const order = typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(String(b));
    return down ? -order : order;
  }).map(([row]) => row);
}

const UNITS = { s: 1, min: 60, h: 3600, d: 86400, "%": 0.01 };

/** Return what a cell is sorted by: its data-value, a number with its unit, or its text. */
function cellValue(cell) {
  if (cell.dataset.value !== undefined) return cell.dataset.value === "" ? "" : Number(cell.dataset.value);
  const text = cell.innerText.split("\n")[0].trim();
  if (["", "-", "–"].includes(text)) return "";
  const found = text.replaceAll(",", "").replace("−", "-").match(/^([+-]?\d+(?:\.\d+)?)\s*(s|min|h|d|%)?(?: of .*)?$/);
  return found ? Number(found[1]) * (UNITS[found[2]] ?? 1) : text;
}

/** A button that copies CSV, and says that it did. */
export function copyButton(make) {
  const button = element("button", { type: "button", class: "sl-button" }, "Copy as CSV");
  button.addEventListener("click", async () => {
    const copied = await copy(make());
    button.textContent = copied ? "Copied" : "Copying is not allowed here";
    setTimeout(() => (button.textContent = "Copy as CSV"), 1500);
  });
  return button;
}

async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    // Files opened from a disk have no clipboard in some browsers.
    const area = element("textarea", { class: "sl-offscreen" });
    area.value = text;
    document.body.append(area);
    area.select();
    const copied = document.execCommand("copy");
    area.remove();
    return copied;
  }
}

/** One line of CSV. Spreadsheets run what begins with = + - @, so that such texts are quoted with an apostrophe. */
export function csvLine(values) {
  return values.map((value) => {
    const text = String(value);
    const safe = typeof value === "string" && /^[=+\-@\t\r]/.test(text) && !/^[+-]?[\d.]/.test(text) ? `'${text}` : text;
    return /[",\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
  }).join(",");
}

function csvOf(table) {
  const rows = [table.tHead.rows[0], ...[...table.tBodies[0].rows].filter((row) => !row.hidden)];
  return rows.map((row) => csvLine([...row.cells].map((cell) => cell.dataset.value ?? cell.innerText.trim().replace(/\s+/g, " "))))
    .join("\n");
}

/** Make a table of columns [title, numeric?, key of the definition?] and rows of cells (texts, or {text, value, node}). */
export function makeTable(caption, columns, rows) {
  const head = columns.map(([title, numeric, key]) => element("th", { scope: "col", class: numeric && "number", "data-term": key }, title));
  const body = rows.map((cells) => element("tr", {}, cells.map((cell, column) => {
    const { text = cell, value, node = null } = typeof cell === "object" ? cell : {};
    const attributes = { class: columns[column][1] && "number", "data-value": value };
    const content = node ?? name(String(text));
    return column ? element("td", attributes, content) : element("th", { ...attributes, scope: "row" }, content);
  })));
  const table = element("table", {}, element("caption", {}, caption),
    element("thead", {}, element("tr", {}, head)), element("tbody", {}, body));
  const holder = element("div", {}, element("div", { class: "scroll", tabindex: "0", role: "group", "aria-label": `Table: ${caption}` }, table));
  enhance(table);
  return holder;
}
