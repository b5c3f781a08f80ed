/** Run by `npm run build`: compiles the npm packages' lists into `disposable.bin` beside the classifier. */
import { readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { mergeDisposableLists } from "./disposable-sources.js";
import { compileDisposableTable } from "./disposable-table.js";

const { resolve } = createRequire(import.meta.url);

// The JSON files themselves: the API of disposable-email-domains-js rebuilds its set at every call.
const files = [
  resolve("disposable-domains/index.json"),
  resolve("disposable-email-domains-js/dist/dict/disposable_email_blocklist.json"),
];
const lists = files.map((file) => JSON.parse(readFileSync(file, "utf8")) as string[]);
writeFileSync(
  new URL("disposable.bin", import.meta.url),
  compileDisposableTable(mergeDisposableLists(lists)),
);
