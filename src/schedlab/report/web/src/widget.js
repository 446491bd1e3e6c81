// Entry of a notebook: the same view as an anywidget. Blocks come as one buffer, with their limits in the index.

import styles from "./widget.css";
import { listenForTerms } from "./definitions.js";
import { Explorer } from "./explorer.js";
import { Model } from "./model.js";

async function render({ model: widget, el }) {
  const index = JSON.parse(widget.get("index")), data = widget.get("data");
  const bytes = new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
  const load = async (block) => bytes.slice(index.limits[block], index.limits[block + 1]);
  const root = document.createElement("div");
  root.className = "sl-notebook sl-tokens";
  const style = document.createElement("style");
  style.textContent = styles;
  const explorer = document.createElement("div");
  root.append(style, explorer);
  // Notebooks have styles of their own for lists, tables and headings, and ours must not reach theirs.
  const host = document.createElement("div");
  host.attachShadow({ mode: "open" }).append(root);
  el.append(host);
  listenForTerms(root, JSON.parse(widget.get("definitions")));
  await new Explorer(explorer, await Model.read(index, load), { link: false }).start();
  return () => host.remove();
}

export default { render };
