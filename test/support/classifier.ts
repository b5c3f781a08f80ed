import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { createClassifier } from "../../src/classifier/classifier.js";
import { compileDisposableTable, DisposableTable } from "../../src/classifier/disposable-table.js";
import { mergeDisposableLists } from "../../src/data/sources.js";

const { resolve } = createRequire(import.meta.url);
const lists = [
  "disposable-domains/index.json",
  "disposable-email-domains-js/dist/dict/disposable_email_blocklist.json",
].map((file) => JSON.parse(readFileSync(resolve(file), "utf8")) as string[]);

/** The disposable domains that the program is built with. */
export const disposableEntries = mergeDisposableLists(lists);

/** The classifier with them. */
export const classifier = createClassifier(new DisposableTable(compileDisposableTable(disposableEntries)));
