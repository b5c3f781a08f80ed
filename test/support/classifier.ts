/** Provides the classifier of the build, with its disposable domains, to tests on the sources. */
import { readFileSync } from "node:fs";
import { createClassifier } from "../../src/core/classifier/classifier.js";
import { compileDisposableTable, DisposableTable } from "../../src/core/classifier/tables/disposable-table.js";
import { listOfDays, readDays } from "../../src/engines/data/daily-list.js";
import { loadPopular } from "../../src/engines/data/popular-domains.js";
import { dailyList, listPackages, mergeDisposableLists, namesIn, publicList } from "../../src/engines/data/sources.js";

const read = (path: string) => readFileSync(new URL(path, import.meta.url), "utf8");
const listIn = (path: string) => namesIn(read(path)) ?? [];
const lists = [
  ...listPackages.map(({ name, role, file }) => ({ role, list: listIn(`../../node_modules/${name}/${file}`) })),
  { role: publicList.role, list: listIn("../../src/engines/data/disposable-domains.txt") },
  { role: dailyList.role, ...listOfDays(readDays(read("../../src/engines/data/castle-days.tsv"))) },
];

/** Disposable domains that the program is built with. */
export const disposableEntries = mergeDisposableLists(lists, { isPopular: loadPopular() });

/** Classifier with these domains. */
export const classifier = createClassifier(new DisposableTable(compileDisposableTable(disposableEntries)));
