/** Provides the classifier of the build, with its disposable domains, to tests on the sources. */
import { readFileSync } from "node:fs";
import { createClassifier } from "../../src/classifier/classifier.js";
import { compileDisposableTable, DisposableTable } from "../../src/classifier/disposable-table.js";
import { listPackages, mergeDisposableLists, namesIn } from "../../src/data/sources.js";

const lists = listPackages.map(({ name, role, file }) => {
  const text = readFileSync(new URL(`../../node_modules/${name}/${file}`, import.meta.url), "utf8");
  return { role, list: namesIn(text) ?? [] };
});

/** Disposable domains that the program is built with. */
export const disposableEntries = mergeDisposableLists(lists);

/** Classifier with these domains. */
export const classifier = createClassifier(new DisposableTable(compileDisposableTable(disposableEntries)));
