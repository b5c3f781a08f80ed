/** Provides the classifier of the build, with its disposable domains, to tests on the sources. */
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

/** Disposable domains that the program is built with. */
export const disposableEntries = mergeDisposableLists(lists);

/** Classifier with these domains. */
export const classifier = createClassifier(new DisposableTable(compileDisposableTable(disposableEntries)));
