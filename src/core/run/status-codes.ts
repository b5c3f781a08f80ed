/** Each status with its reason as a small number, so that the statuses of many rows fit into a byte array. */
import { outcomes, reasonCode } from "../classifier/outcomes.js";
import type { ReasonCode } from "../classifier/verdict.js";
import { knownStatuses, notChecked, type Status, type Verdict } from "../validator/validator.js";

export const noItemCode = 0;
/** A comment or a kept bad row, written unchanged; or a record of another shard, left out. Not counted. */
export const notARowCode = 255;
export const otherShardCode = 253;
/** Limit on the different statuses that rows keep, and on those, with their reasons, that a service and DNS give. */
export const mostStatuses = 100;

export const offlineStatuses: readonly Status[] = ["", ...outcomes.map(({ status }) => status), notChecked.status];
export const offlineReasons: readonly (ReasonCode | undefined)[] = [undefined, ...outcomes.map(({ reason }) => reason)];
/** Code of `quota_exceeded`, and of an item that waits for its verdict. */
export const notCheckedCode = offlineStatuses.length - 1;
/** Lowest code of a status that a row keeps from an earlier run. The known statuses are first. */
export const firstKeptCode = offlineStatuses.length;
const firstGivenCode = 128;

export const isRow = (code: number): boolean => code !== notARowCode && code !== otherShardCode;

export const hasItem = (code: number): boolean => code !== noItemCode && isRow(code);

export const isKept = (code: number): boolean => code >= firstKeptCode && code < firstGivenCode;

export class StatusCodes {
  /** By code. A status has a code for each of its reasons. */
  readonly statuses: Status[] = [...offlineStatuses, ...knownStatuses];
  readonly reasons: (string | undefined)[] = [...offlineReasons];
  #kept = this.statuses.length;

  constructor() {
    while (this.statuses.length < firstGivenCode) this.statuses.push("");
  }

  keptCodeOf(status: Status): number | undefined {
    const code = this.statuses.indexOf(status, firstKeptCode);
    if (code !== -1 && code < this.#kept) return code;
    if (this.#kept === firstKeptCode + mostStatuses) return undefined;
    this.statuses[this.#kept] = status;
    return this.#kept++;
  }

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

/** A function of its own is compiled: in the middle of a run, the loop took 14 ms more of a million items. */
export function countNew(codes: Uint8Array, isNew: Uint8Array, counts: Uint32Array): void {
  for (let index = 0; index < codes.length; index++) counts[codes[index]!]! += isNew[index]!;
}
