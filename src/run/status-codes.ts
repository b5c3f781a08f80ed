/** Status codes: each status with its reason as a small number, so that those of many rows fit into a byte array. */
import { outcomes } from "../classifier/outcomes.js";
import type { ReasonCode } from "../classifier/verdict.js";
import { notChecked, type Status } from "../validator/validator.js";

/** Code of a row without an item; its status is empty. */
export const noItemCode = 0;
/** Code of a record that is not a row: a comment, or a bad row that is kept. Written unchanged and not counted. */
export const notARowCode = 255;
/** Code of a record of another shard. Left out and not counted. */
export const otherShardCode = 253;
/** Most different statuses in one run; a service may have some that idv does not know. Higher codes are marks. */
export const mostStatuses = 127;

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
/** Code of `quota_exceeded` among {@link offlineStatuses}. */
export const notCheckedCode = offlineStatuses.length - 1;

/** Returns whether a record with this code is a row of the run. */
export const isRow = (code: number): boolean => code !== notARowCode && code !== otherShardCode;

/** Returns whether a row with this code has an item. */
export const hasItem = (code: number): boolean => code !== noItemCode && isRow(code);
