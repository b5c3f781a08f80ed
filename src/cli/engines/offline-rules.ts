/** The rules of the offline engine where another one judges: they explain the verdicts of a service. */
import { type Classifier, loadClassifier } from "../../classifier/classifier.js";
import { tableSource } from "../../data/installed-table.js";
import { dataTablePath } from "../config/paths.js";
import { say } from "../terminal/terminal.js";

/** Loads the offline rules, without lists of the user's own. */
export const loadOfflineRules = (): Classifier =>
  loadClassifier(tableSource(dataTablePath(process.env), say));
