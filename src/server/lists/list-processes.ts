/** The processes of the command line that look at a list and check it, within limits of time, room and memory. */
import type { ChildProcess } from "node:child_process";
import { endOf, type ProgramEnd, type Progress } from "../../child-program.js";
import { type Facts, forPages } from "../../core/facts/facts.js";
import type { Kind } from "../../core/validator/validator.js";
import { statusOf } from "../../fault.js";
import { reservationOf, type StoredList } from "../../state/service/lists.js";
import { Refusal } from "../refusal.js";
import { countedIn, type ListChoices, type ListResult } from "./list-facts.js";
import { type ListFiles, noRoom, removed } from "./list-files.js";

/** Limit on a list's folder, with the unpacked list and the results, as a multiple of the largest list. */
const mostGrowth = 8;
/** Between two looks at the files of a list, in milliseconds. */
const lookMilliseconds = 500;
/** Exit codes of runs whose output is complete. */
const success = 0;
const quotaExhausted = 4;

/** Starts the command line as a child process: too much memory or time ends only that process. */
export interface ListRunner {
  /** Ends with this process. `charge` names the key, the run (paid once) and its attempt; undefined for a dry run. */
  readonly start: (
    args: readonly string[],
    folder: string,
    charge: { readonly keyId: string; readonly run: string; readonly reservation: string } | undefined,
  ) => ChildProcess;
  /** Time limit of the dry run that detects the table. */
  readonly lookMilliseconds: number;
}

interface Place {
  readonly files: ListFiles;
  /** Size of the largest list. */
  readonly mostBytes: number;
  readonly runner: ListRunner;
}

const command = (kind: Kind, name: string, args: readonly string[]): readonly string[] => [
  kind === "email" ? "emails" : "domains",
  name.startsWith("-") ? `./${name}` : name,
  ...args,
  ...["--log", "json"],
];

const faultIn = ({ fault }: ProgramEnd): string => fault?.plain ?? "the list cannot be checked";

/** @throws Refusal */
export async function detectTable(place: Place, list: StoredList, column: string, signal: AbortSignal): Promise<Facts> {
  const folder = place.files.folderOf(list.id);
  const chosen = column === "" ? [] : ["-c", column];
  const args = ["--offline", "--quota", ".detect.db", ...chosen, "--dry-run", "--bad-rows", "skip"];
  let isSlow = false;
  const child = place.runner.start(command(list.kind, list.name, args), folder, undefined);
  const timer = setTimeout(() => {
    isSlow = true;
    child.kill("SIGKILL");
  }, place.runner.lookMilliseconds);
  const end = await follow(place, child, list.id, signal)
    .catch((error: unknown) => {
      throw isSlow ? new Refusal(413, "Reading the list took too long; use the command line.") : error;
    })
    .finally(() => clearTimeout(timer));
  if (end.exitCode !== success || end.facts === undefined) throw new Refusal(statusOf(end.fault?.code), faultIn(end));
  return forPages(end.facts);
}

/** @throws Refusal */
export async function checkList(
  place: Place,
  list: StoredList,
  signal: AbortSignal,
  onProgress: (line: Progress) => void,
): Promise<ListResult> {
  const { id, name, kind, keyId } = list;
  const { column, delimiter, sheet, drop, isSplit, isExplained, isFixed, dns, skipsBadRows } =
    list.choices as ListChoices;
  const paths = await place.files.begin(list);
  const folder = place.files.folderOf(id);
  const args = [
    ...["--set", "engine=offline", "--report", paths.report, "--log", `gitlab:${paths.findings}`],
    ...(column === undefined ? [] : ["-c", column]),
    ...(delimiter === undefined ? [] : ["-d", delimiter]),
    ...(sheet === undefined ? [] : ["--sheet", sheet]),
    ...(drop.length === 0 ? [] : ["--drop", drop.join(",")]),
    ...(isSplit ? ["--split", paths.split] : ["-o", paths.output]),
    ...(isExplained ? ["--explain"] : []),
    ...(isFixed ? ["--fix"] : []),
    ...(dns ? ["--dns"] : []),
    ...(skipsBadRows ? ["--bad-rows", "skip"] : []),
  ];
  const charge = { keyId: keyId!, run: `list-${id}`, reservation: reservationOf(list) };
  const child = place.runner.start(command(kind, name, args), folder, charge);
  const end = await follow(place, child, id, signal, ({ rows, share, units }) => onProgress({ rows, share, units }));
  const { exitCode, facts } = end;
  if ((exitCode !== success && exitCode !== quotaExhausted) || facts === undefined) {
    return { fault: faultIn(end), counted: countedIn(list.result) };
  }
  const { quota_exceeded: notChecked = 0, ...charged } = facts.distinctStatuses;
  return {
    counted: { statuses: charged, notChecked },
    facts: forPages(facts),
    isExhausted: exitCode === quotaExhausted,
    files: await place.files.resultsOf(list),
  };
}

/** Ends the process when the list is removed or its files grow too large. */
async function follow(
  { files, mostBytes }: Place,
  child: ChildProcess,
  id: string,
  signal: AbortSignal,
  onProgress: (progress: Progress) => void = () => {},
): Promise<ProgramEnd> {
  let fault: Refusal | undefined;
  const stop = () => child.kill("SIGKILL");
  signal.addEventListener("abort", stop);
  if (signal.aborted) stop();
  const look = async () => {
    if ((await files.sizeOf(id)) > mostBytes * mostGrowth) {
      fault = new Refusal(413, "The list is too large when it is unpacked; use the command line.");
    } else if ((await files.room().catch(() => 0)) < 0) fault = noRoom();
    if (fault !== undefined) stop();
  };
  const watch = setInterval(look, lookMilliseconds);
  try {
    const end = await endOf(child, onProgress);
    // It may have ended between two looks.
    await look();
    if (fault !== undefined) throw fault;
    if (end.exitCode === null)
      throw new Refusal(500, "The check was killed, perhaps for lack of memory. Use the command line.");
    return end;
  } catch (error) {
    throw signal.aborted ? removed() : (fault ?? error);
  } finally {
    clearInterval(watch);
  }
}
