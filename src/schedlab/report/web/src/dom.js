// Elements without a framework. Texts are always set as text: names from logs may hold markup.

/** Names that are longer may be cut off on the screen, and are shown in full where the pointer rests. */
const LONG = 24;

/** Make an element: attributes, listeners (functions by event name) and children (elements or texts). */
export function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") made.addEventListener(name, value);
    else if (value === true) made.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined) made.setAttribute(name, value);
  }
  made.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== false));
  return made;
}

/** A name from a log: isolated, so that right-to-left text does not reorder what stands beside it. */
export const name = (text) => element("bdi", { title: String(text).length > LONG ? text : null }, text);

/** A labelled select. */
export function select(label, options, value, change) {
  const box = element("select", { change: (event) => change(event.target.value) },
    options.map(([key, text]) => element("option", { value: key, selected: String(key) === String(value) }, text)));
  return element("label", { class: "sl-field" }, element("span", {}, label), box);
}

/** A button that opens a definition. */
export function term(key, text) {
  return element("button", { type: "button", class: "sl-term", "data-term": key }, text);
}

/** The element that has the focus, as seen from inside a page or a notebook's shadow tree. */
export const focusedIn = (inside) => inside.getRootNode().activeElement;
