// Definitions: one click away from every term.

import { element, term } from "./dom.js";

/** Open the definition when a term is clicked, anywhere under `root`. */
export function listenForTerms(root, definitions) {
  for (const word of root.querySelectorAll("span[data-term]")) word.replaceWith(term(word.dataset.term, word.textContent));
  const dialog = element("dialog", { class: "sl-definition", "aria-labelledby": "sl-definition-term" });
  const heading = element("h3", { id: "sl-definition-term" }), text = element("p");
  const close = element("button", { type: "button", class: "sl-button", click: () => dialog.close() }, "Close");
  dialog.append(heading, text, close);
  dialog.addEventListener("click", (event) => event.target === dialog && dialog.close());
  root.append(dialog);
  root.addEventListener("click", (event) => {
    const asked = event.target.closest("[data-term]");
    if (!asked || !(asked.dataset.term in definitions)) return;
    event.preventDefault();
    const [termText, definition] = definitions[asked.dataset.term];
    heading.textContent = termText;
    text.textContent = definition;
    dialog.showModal();
  });
}
