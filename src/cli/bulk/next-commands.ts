/** The commands that a run suggests when it is done. */
import { extname } from "node:path";
import type { RunReport } from "../../run/run-options.js";
import { noItem } from "../config/option-values.js";
import type { QuotaOptions, QuotaPlace } from "../config/quota-place.js";
import { commandLine, shellWord, updateCommand } from "./command-line.js";
import type { BulkOptions, Plan } from "./plan.js";

/** Returns the command that validates what a run has left, if that is in one file. */
export function nextCommand({ kind, output, isInPlace, isWorkbook, options }: Plan): string | undefined {
  if (isInPlace) return updateCommand(process.argv.slice(2));
  const { only, drop, dedupe, header, column, statusColumn, offline, explain, canonical } = options;
  const isFiltered = (only ?? drop ?? dedupe) !== undefined || header !== "always";
  const isFile = output !== undefined && !isWorkbook && !output.startsWith("/dev/");
  const { engine, baseUrl, apiKeyFile, dns } = options;
  const isOfOtherSource = (baseUrl ?? apiKeyFile ?? dns) !== undefined || engine === "api";
  if (!isFile || isFiltered || isOfOtherSource || decidesMore(options)) return undefined;
  return commandLine([
    kind === "email" ? "emails" : "domains",
    ...(column ?? []).flatMap((name) => ["-c", name]),
    ...(statusColumn === "status" ? [] : ["--status-column", statusColumn]),
    ...(offline ? ["--offline"] : []),
    ...(engine === undefined ? [] : ["--engine", engine]),
    ...quotaWords(options),
    ...(explain ? ["--explain"] : []),
    ...(canonical ? ["--canonical"] : []),
    ...["-I", "--update", output],
  ]);
}

/**
 * Returns the command that raises the limit of the offline engine's quota.
 *
 * @param place where the quota is
 */
export function limitCommand(place: QuotaPlace, options: QuotaOptions): string {
  const isOfKey = "state" in place && "keyId" in place.from;
  const words = isOfKey ? ["keys", "set", place.from.keyId] : ["quota", "set", ...quotaWords(options)];
  return commandLine([...words, "--limit", "N"]);
}

/** Returns the words that name a quota, as the user has given them. */
const quotaWords = ({ quotaFile, quota, quotaName }: QuotaOptions): string[] => [
  ...(quotaFile === undefined ? [] : ["--quota-file", quotaFile]),
  ...(quota === undefined ? [] : ["--quota", quota]),
  ...(quotaName === undefined ? [] : ["--quota-name", quotaName]),
];

/**
 * Returns the command that drops disposable and fake rows, and those without an item; undefined if there are none, or all are, or
 * this run filters.
 */
export function cleanCommand(
  { kind, input, options }: Plan,
  { statuses, statuses: { size }, emptyRows }: RunReport,
): string | undefined {
  const useless = ["disposable", "fake"].filter((status) => statuses.has(status));
  const dropped = [...useless, ...(emptyRows > 0 ? [noItem] : [])];
  const { only, drop, split, inPlace, shard } = options;
  const isFiltered = (only ?? drop ?? split ?? inPlace ?? shard) !== undefined;
  const isPlain = options.column === undefined && !decidesMore(options) && !isFiltered;
  if (input === undefined || useless.length === 0 || useless.length === size || !isPlain) return undefined;
  const command = kind === "email" ? "emails" : "domains";
  return `idv ${command} ${shellWord(input)} --drop ${dropped.join(",")} -o ${shellWord(`clean${extname(input) || ".csv"}`)}`;
}

/** Whether options besides the column decide what is judged, and how: a suggested command would have to repeat them. */
function decidesMore(options: BulkOptions): boolean {
  const { delimiter, encoding, sheet, comment, quote, escape: escaping, skipLines } = options;
  const { allow, deny, allColumns, emptyValues, headers, cell, badRows, force } = options;
  const ofTable = delimiter ?? encoding ?? sheet ?? comment ?? quote ?? escaping ?? skipLines;
  const first = ofTable ?? allow ?? deny ?? allColumns ?? emptyValues ?? force;
  return first !== undefined || !headers || cell !== "worst" || badRows === "keep";
}
