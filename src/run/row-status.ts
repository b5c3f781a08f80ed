import type { Status } from "../validator/validator.js";

/** The statuses of rows that the embedded engine gives, as numbers: each is its index here. */
export const rowStatuses: readonly Status[] = ["", "ok", "alias", "disposable", "fake", "quota_exceeded"];

/** The row has no item. */
export const noItem = 0;
export const ok = 1;
export const notChecked = rowStatuses.length - 1;
/** It is no row at all, but a comment or a bad row: written as it is and not counted. */
export const notARow = rowStatuses.length;

/** Whether a row has an item. */
export const hasItem = (code: number): boolean => code !== noItem && code !== notARow;

/** The number of a status. */
export const statusCode = (status: Status): number => rowStatuses.indexOf(status);
