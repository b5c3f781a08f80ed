/** Prints the facts of a run, or adds them to a file as a line of JSON. */
import { constants, open } from "node:fs/promises";
import type { Facts } from "../../../core/facts/facts.js";
import { cannotWrite } from "../../../files/errors.js";
import { printableJson } from "../../../text.js";
import { isUnicodeLocale, type TerminalStyle } from "../../terminal/bars.js";
import { colours } from "../../terminal/terminal.js";
import type { LogPlan } from "../plan/plan.js";
import { oldDataRemark, textSummary } from "./summary.js";

type SummaryType = "summary" | "total";

/** `isLast` adds a remark on old lists, for people. */
export async function printSummary(format: LogPlan["summary"], type: SummaryType, facts: Facts, isLast: boolean) {
  if (format === "none") return;
  const text = format === "json" ? jsonLine(type, facts) : await textFor(facts, isLast);
  process.stderr.write(`${text}\n`);
}

async function textFor(facts: Facts, isLast: boolean): Promise<string> {
  const style = await terminalStyle();
  // In a nightly job, the remark would fill the log.
  const remark = isLast && style !== undefined ? oldDataRemark(facts) : undefined;
  return [textSummary(facts, style), ...(remark === undefined ? [] : [remark])].join("\n");
}

const jsonLine = (type: SummaryType, facts: Facts): string => printableJson({ type, ...facts });

async function terminalStyle(): Promise<TerminalStyle | undefined> {
  const { isTTY, columns } = process.stderr;
  if (isTTY !== true || process.env["TERM"] === "dumb") return undefined;
  const isUnicode = isUnicodeLocale(process.env, process.platform);
  return { chalk: await colours(process.stderr, process.env), columns: columns || 80, isUnicode };
}

export async function appendSummary(path: string, type: SummaryType, facts: Facts): Promise<void> {
  const line = jsonLine(type, facts);
  // Opening a named pipe without a reader would block.
  const flags = constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | constants.O_NONBLOCK;
  try {
    const file = await open(path, flags);
    await file.appendFile(`${line}\n`).finally(() => file.close());
  } catch (error) {
    throw cannotWrite(path, error);
  }
}
