/** Statuses of rows as small numbers, so that a block of rows has its statuses in a byte array. */
import { classifierStatuses } from "../classifier/verdict.js";
import { type Status, notChecked as unchecked } from "../validator/validator.js";

/** Code of a row without an item; its status is empty. */
export const noItem = 0;
/** Code of a record that is not a row: a comment, or a bad row that is kept. It is written as it is and not counted. */
export const notARow = 255;
/** Statuses that one run can tell apart: a service may have some of its own. */
export const mostStatuses = 127;

/** The statuses that the offline engine gives, by their codes. */
export const offlineStatuses: readonly Status[] = ["", ...classifierStatuses, unchecked.status];
/** Code of `quota_exceeded` among {@link offlineStatuses}. */
export const notChecked = offlineStatuses.length - 1;

/** Whether a row with this code has an item. */
export const hasItem = (code: number): boolean => code !== noItem && code !== notARow;

/** The code of a status among {@link offlineStatuses}. */
export const offlineCode = (status: Status): number => offlineStatuses.indexOf(status);
