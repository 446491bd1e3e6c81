// Entry of a page: what it carries is read, and the parts of the printed page that can be touched become so.

import { showCampaign } from "./campaign.js";
import { fromBase64 } from "./container.js";
import { listenForTerms } from "./definitions.js";
import { Explorer } from "./explorer.js";
import { Model } from "./model.js";
import { enhance } from "./tables.js";

const json = (id) => JSON.parse(document.getElementById(id)?.textContent ?? "null");

async function main() {
  document.querySelectorAll("main table").forEach(enhance);
  listenForTerms(document.body, json("schedlab-definitions") ?? {});
  showCampaign(json("schedlab-campaign"));
  const root = document.getElementById("schedlab-explorer"), index = json("schedlab-index");
  if (!root || !index) return;
  try {
    const load = async (block) => fromBase64(document.getElementById(`schedlab-block-${block}`).textContent);
    root.explorer = await new Explorer(root, await Model.read(index, load)).start();
    document.documentElement.classList.add("sl-ready");
  } catch (error) {
    root.textContent = `The interactive view cannot be shown (${error.message}); the page below has the same results.`;
    document.documentElement.classList.remove("sl-script");
    throw error;
  }
}

main();
