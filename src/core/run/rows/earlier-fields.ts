/** Decides which rows keep the fields that an earlier run has added, and protects fields that are not idv's. */
import { type BadRowListener, type BadRowPolicy, RowFault } from "../../table/bad-rows.js";
import { TableError } from "../../table/errors.js";
import { knownStatuses, notChecked } from "../../validator/validator.js";
import { mostStatuses, notARowCode, otherShardCode } from "../status-codes.js";

export interface Update {
  readonly input: string;
  readonly keeps: boolean;
  /** Whether each status column has statuses in its first rows. An empty column may be the user's own. */
  readonly isSure: boolean;
  readonly bad?: {
    /** A bad row has no status: one of its own fields is in the status column. */
    isBadRow(status: string): boolean;
    readonly policy: BadRowPolicy;
    readonly onBadRow: BadRowListener;
  };
}

export const anyUpdate: Update = { input: "", keeps: true, isSure: true };

/** Returns the code that keeps the row or leaves it out. @throws TableError when bad rows end the run */
export function badRowCode(
  input: string,
  { policy, onBadRow }: NonNullable<Update["bad"]>,
  column: string | undefined,
  line: number | undefined,
  record: Buffer,
): typeof notARowCode | typeof otherShardCode {
  const reason = `a field in the column "${column}" is not a status; the row may have a delimiter too many or too few; correct it`;
  if (policy === "error" && line === undefined) throw new TableError(`${input}: ${reason}`);
  const fault = new RowFault("out of step", input, line ?? 0, reason);
  if (policy === "error") throw fault.toError(record);
  onBadRow(fault, record);
  return policy === "keep" ? notARowCode : otherShardCode;
}

export const tooManyKept = (input: string): TableError =>
  new TableError(
    `${input}: its status column has over ${mostStatuses} different statuses; name another column with --set statusColumn=NAME, or leave out --update`,
  );

export const isStatus = (field: string): boolean =>
  field === "" || (knownStatuses as readonly string[]).includes(field);

/** False without a status and for `quota_exceeded`. @throws TableError when another value would be lost */
export function keepsStatus(
  status: string,
  name: string | undefined,
  { input, keeps, isSure }: Update,
  line: number | undefined,
): boolean {
  // A header that is repeated, as in outputs put together.
  if (status === name) return false;
  if (!isStatus(status) && !(keeps && isSure)) {
    const where = line === undefined ? input : `${input}:${line}`;
    throw new TableError(
      `${where}: the column "${name}" has a field that is not a status and is not overwritten; name another column with --set statusColumn=NAME, or leave out --update`,
    );
  }
  return keeps && status !== "" && status !== notChecked.status;
}
