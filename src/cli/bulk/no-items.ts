/** Refuses inputs in which nothing looks like an item, before anything is written or charged. */
import { ChoiceError } from "../../files/errors.js";
import { profiles } from "../../run/item.js";
import { nameFit } from "../../table/sniff/column.js";
import type { Table } from "../../table/table.js";
import type { Kind } from "../../validator/validator.js";
import { printable } from "../terminal/terminal.js";

const names = {
  email: { one: "an e-mail address", command: "emails" },
  domain: { one: "a domain", command: "domains" },
} as const;

/** Facts about the table that is checked. */
type CheckedTable = Pick<Table, "column" | "firstValues" | "format" | "header" | "width">;

/**
 * Makes sure that a column was meant to hold items. A column that the user named, or that has the name of such a column,
 * may hold anything.
 *
 * @param inputName path of the input, or `standard input`
 * @param isNamed whether the user named the column
 * @throws ChoiceError if no value in the sample looks like an item, or most are domains where addresses are wanted
 */
export function checkItems(kind: Kind, inputName: string, table: CheckedTable, isNamed: boolean): void {
  const { column, format, header, width } = table;
  const firstValues = table.firstValues(column);
  const profile = profiles[kind];
  const name = header?.[column] ?? "";
  if (isNamed || nameFit(name, profile) > 1) return;
  // Where nothing is an item, the header may be the first of them.
  const lines = format === "jsonl" ? firstValues : [name, ...firstValues];
  const values = lines.filter((value) => value.trim() !== "");
  if (values.length === 0) return;
  const other = kind === "email" ? "domain" : "email";
  const others = values.filter((value) => profiles[other].likeness(value) === 2).length;
  // For domains, addresses count as their hosts. Among addresses, some domains are mistakes, but not most.
  const isOtherList = kind === "email" && others > values.length / 2;
  const hasItems = values.some(profile.resembles);
  if (hasItems && !isOtherList) return;
  const where = width > 1 ? `field in column ${column + 1}` : "line";
  const input = inputName === "standard input" ? "" : ` ${inputName}`;
  const advice =
    others > values.length / 2
      ? `${others} of ${values.length} are ${profiles[other].plural}: idv ${names[other].command}${input}`
      : "check the file, or name the column with -c";
  if (hasItems) {
    throw new ChoiceError(`${printable(inputName)} holds few e-mail addresses; ${advice}`);
  }
  throw new ChoiceError(`no ${where} of ${printable(inputName)} looks like ${names[kind].one}; ${advice}`);
}
