/** Decides which rows keep the fields that an earlier run has added, and guards fields that are not idv's. */
import { TableError } from "../table/errors.js";
import { knownStatuses, notChecked } from "../validator/validator.js";
import type { Columns } from "./columns.js";

/** What an update does with the status columns of an earlier run. */
export interface Update {
  /** Name of the table, for messages. */
  readonly input: string;
  /** Whether rows keep their statuses. Otherwise all are validated again. */
  readonly keeps: boolean;
  /** Whether the start of each status column holds statuses. If it is empty, the column may be the user's own. */
  readonly isSure: boolean;
}

/** Returns whether a field of a status column may be replaced: it is empty or a status of idv. */
export const isStatus = (field: string): boolean =>
  field === "" || (knownStatuses as readonly string[]).includes(field);

/**
 * Returns the fields that an earlier run has added for a column, if the row keeps them: not without a status, and not if
 * the quota had left it.
 *
 * @param fields the added fields of all columns
 * @param count number of wanted columns
 * @param line line of the row, from 1; undefined where lines are not counted
 * @throws TableError if the status column holds something else, which would be lost
 */
export function keptFields(
  fields: readonly string[] | undefined,
  column: number,
  { names }: Columns,
  count: number,
  { input, keeps, isSure }: Update,
  line: number | undefined,
): readonly string[] | undefined {
  const each = names.length / count;
  const own = fields?.slice(column * each, (column + 1) * each);
  if (own === undefined) return undefined;
  const [status = ""] = own;
  if (!isStatus(status) && !(keeps && isSure)) {
    const where = line === undefined ? input : `${input}:${line}`;
    throw new TableError(
      `${where}: the column "${names[column * each]}" has a field that is no status; it is not overwritten; name another column with --status-column, or leave out --update`,
    );
  }
  return keeps && status !== "" && status !== notChecked.status ? own : undefined;
}
