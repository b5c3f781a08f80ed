/** Loads the offline rules, which explain the verdicts of a service. */
import type { Classifier } from "../../core/classifier/classifier.js";
import { loadClassifier } from "../../core/classifier/tables/load-classifier.js";
import { tableSource } from "../../engines/data/installed-table.js";
import { dataTablePath } from "../config/paths.js";
import { say } from "../terminal/terminal.js";

/** The user's own lists are left out. */
export const loadOfflineRules = (): Classifier => loadClassifier(tableSource(dataTablePath(process.env), say));
