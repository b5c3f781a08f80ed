/** Loads the classifier with its tables from files. */
import { readFileSync } from "node:fs";
import { readBuilt } from "../../../package/own-files.js";
import { type Classifier, createClassifier } from "../classifier.js";
import { DisposableTable } from "./disposable-table.js";
import type { OwnLists } from "./own-lists.js";
import { useSuffixes } from "./suffix-table.js";

/** Plain data, so that worker threads can build the same classifier. `table` is a path; idv's own by default. */
export type ClassifierSource = { readonly table?: string; readonly ownLists?: OwnLists };

/** @throws Error when the table cannot be read or is not a table of disposable domains */
export function loadClassifier({ table, ownLists }: ClassifierSource = {}): Classifier {
  const disposable = new DisposableTable(
    table === undefined ? readBuilt("classifier/disposable.bin") : readFileSync(table),
  );
  if (disposable.suffixes?.slots) useSuffixes(disposable.suffixes.slots);
  return createClassifier(disposable, ownLists);
}
