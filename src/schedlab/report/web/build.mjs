// Builds built/: `npm ci && npm run build`. The output is committed, so that installing schedlab needs no Node.

import { createHash } from "node:crypto";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { build } from "esbuild";

const licence = readFileSync("node_modules/uplot/LICENSE", "utf8").trim();
const banner = { js: `/*! Contains uPlot 1.6.32.\n${licence}\n*/`, css: `/*! Contains the styles of uPlot 1.6.32.\n${licence}\n*/` };
const common = { bundle: true, minify: true, target: ["chrome100", "firefox113", "safari16.4"], charset: "ascii", legalComments: "none", banner, logLevel: "warning" };

await build({ ...common, entryPoints: ["src/report.css"], outfile: "built/report.css" });
await build({ ...common, entryPoints: ["src/page.js"], outfile: "built/report.js", format: "iife" });

// A notebook gets its styles inside the script.
const styles = await build({ ...common, entryPoints: ["src/widget.css"], write: false });
const inline = { name: "styles", setup: (build) => build.onLoad({ filter: /widget\.css$/ }, () => ({ contents: styles.outputFiles[0].text, loader: "text" })) };
await build({ ...common, entryPoints: ["src/widget.js"], outfile: "built/widget.js", format: "esm", plugins: [inline] });

// What was built from what: a test compares it without Node.
const digest = createHash("sha256");
for (const file of ["build.mjs", "package-lock.json", ...readdirSync("src").sort().map((file) => `src/${file}`)])
  digest.update(`${file}\n`).update(readFileSync(file));
writeFileSync("built/sources.sha256", `${digest.digest("hex")}\n`);
