/** Options about the log of a run: progress, summary and report. */
import { optionRecords } from "./option.js";
import { logTarget, reportTarget } from "./values.js";

export const logOptions = optionRecords({
  log: {
    flags: "--log <FORMAT>",
    help: "on stderr: text, plain (progress in lines), json (each line), github (annotations), none; debug adds every request; json:FILE adds the summary to FILE; gitlab:FILE, sarif:FILE: annotations",
    parse: logTarget,
    words: ["text", "plain", "json", "github", "none", "debug", "json:", "gitlab:", "sarif:"],
    isList: true,
  },
  by: {
    flags: "--by <COLUMN>",
    help: "count the statuses by the values of a column, such as source, in the summary and the report",
    isOnce: true,
  },
  report: {
    flags: "--report <FILE>",
    help: "write a report: .html, .md, .json, .svg or .pdf; full:FILE lists bad rows",
    parse: reportTarget,
    isList: true,
  },
  quiet: { flags: "-q, --quiet", help: "no progress, notes or summary on stderr" },
});
