/** Status codes: each status with its reason as a small number, so that the statuses of many rows fit into a byte array. */
import { outcomes, reasonCode } from "../classifier/outcomes.js";
import type { ReasonCode } from "../classifier/verdict.js";
import { knownStatuses, notChecked, type Status, type Verdict } from "../validator/validator.js";

/** A row without an item; its status is empty. */
export const noItemCode = 0;
/** A record that is not a row: a comment, or a bad row that is kept. Written unchanged and not counted. */
export const notARowCode = 255;
/** A record of another shard. Left out and not counted. */
export const otherShardCode = 253;
/** Limit on the different statuses that rows keep, and on those, with their reasons, that a service and DNS give. */
export const mostStatuses = 100;

/** Statuses of the offline engine by code, and the codes of their reasons: the outcomes, then quota_exceeded. */
export const offlineStatuses: readonly Status[] = [
  "",
  ...outcomes.map(({ status }) => status),
  notChecked.status,
];
export const offlineReasons: readonly (ReasonCode | undefined)[] = [
  undefined,
  ...outcomes.map(({ reason }) => reason),
];
/** Code of `quota_exceeded`, and of an item that waits for its verdict. */
export const notCheckedCode = offlineStatuses.length - 1;
/** Lowest code of a status that a row keeps from an earlier run. The known statuses are first. */
export const firstKeptCode = offlineStatuses.length;
/** Lowest code of a verdict that is not an offline one. */
const firstGivenCode = 128;

export const isRow = (code: number): boolean => code !== notARowCode && code !== otherShardCode;

export const hasItem = (code: number): boolean => code !== noItemCode && isRow(code);

export const isKept = (code: number): boolean => code >= firstKeptCode && code < firstGivenCode;

/** The codes of a session, or of a thread, which needs only those of offline verdicts and of known statuses. */
export class StatusCodes {
  /** By code. A status has a code for each of its reasons. */
  readonly statuses: Status[] = [...offlineStatuses, ...knownStatuses];
  readonly reasons: (string | undefined)[] = [...offlineReasons];
  #kept = this.statuses.length;

  constructor() {
    while (this.statuses.length < firstGivenCode) this.statuses.push("");
  }

  /** Returns the code of a status that a row keeps; undefined if there are more than {@link mostStatuses}. */
  keptCodeOf(status: Status): number | undefined {
    const code = this.statuses.indexOf(status, firstKeptCode);
    if (code !== -1 && code < this.#kept) return code;
    if (this.#kept === firstKeptCode + mostStatuses) return undefined;
    this.statuses[this.#kept] = status;
    return this.#kept++;
  }

  /** Returns the code of a verdict; undefined if there are more than {@link mostStatuses} besides the offline ones. */
  codeOf({ status, reason }: Verdict): number | undefined {
    const why = reasonCode(reason);
    const { statuses, reasons } = this;
    const isIt = (code: number) => statuses[code] === status && reasons[code] === why;
    for (let code = 1; code < firstKeptCode; code++) if (isIt(code)) return code;
    for (let code = firstGivenCode; code < statuses.length; code++) if (isIt(code)) return code;
    if (statuses.length === firstGivenCode + mostStatuses) return undefined;
    reasons[statuses.length] = why;
    return statuses.push(status) - 1;
  }
}
