/** The commands that a run suggests when it is done. */
import { extname } from "node:path";
import type { RunReport } from "../../../run/run-options.js";
import { noItem } from "../../options/values.js";
import type { Plan } from "../plan/plan.js";
import { commandLine, updateCommand } from "./command-line.js";

/** Returns the command that validates what a run has left, if that is in one file. */
export function nextCommand(plan: Plan): string | undefined {
  const { output, isInPlace, isWorkbook } = plan;
  if (isInPlace) return updateCommand(process.argv.slice(2));
  const words = repeatedWords(plan);
  const isFile = output !== undefined && !isWorkbook && !output.startsWith("/dev/");
  return isFile && words ? commandLine([...words, "-I", "--update", output]) : undefined;
}

/** Returns the command that raises the limit of the offline engine's quota. */
export function limitCommand({ quota, given }: Plan): string {
  const words =
    "state" in quota && "keyId" in quota.from
      ? ["keys", "set", quota.from.keyId]
      : ["quota", "set", ...given.flatMap(({ name, words }) => (name === "quota" ? words : []))];
  return commandLine([...words, "--limit", "N"]);
}

/**
 * Returns the command that drops disposable and fake rows, and those without an item; undefined if there are none, or all are, or
 * the options of this run prevent it.
 */
export function cleanCommand(
  plan: Plan,
  { statuses, statuses: { size }, emptyRows }: RunReport,
): string | undefined {
  const useless = ["disposable", "fake"].filter((status) => statuses.has(status));
  const dropped = [...useless, ...(emptyRows > 0 ? [noItem] : [])];
  const { input, isInPlace } = plan;
  const words = repeatedWords(plan);
  const isWanted = useless.length > 0 && useless.length < size;
  if (input === undefined || isInPlace || !isWanted || words === undefined) return undefined;
  return commandLine([
    ...words,
    input,
    "--drop",
    dropped.join(","),
    "-o",
    `clean${extname(input) || ".csv"}`,
  ]);
}

/** Returns the command with the options that decide what is judged; undefined if one of them cannot be repeated. */
function repeatedWords({ kind, given }: Plan): readonly string[] | undefined {
  if (given.some(({ record }) => record.next === "prevent")) return undefined;
  const words = given.flatMap(({ record, words }) => (record.next === "repeat" ? words : []));
  return [kind === "email" ? "emails" : "domains", ...words];
}
