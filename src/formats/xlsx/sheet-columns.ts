/** The columns that a run adds to a sheet of a workbook. */

import type { Columns } from "../../core/run/rows/columns.js";
import type { RowFilter } from "../../core/run/run-options.js";
import type { Table } from "../../core/table/table.js";
import type { AddedColumns } from "./sheet.js";

/** Columns of an earlier run keep their indices, new ones are after the table. */
export function columnsInSheet(
  { names, indices }: Columns,
  { width, column, rowsAbove = 0 }: Pick<Table, "width" | "column" | "rowsAbove">,
  { keeps, dedupe }: RowFilter,
): AddedColumns {
  let next = width;
  const removesRows = keeps !== undefined || dedupe !== undefined;
  return {
    names,
    width,
    column,
    indices: indices.map((index) => index ?? next++),
    firstRemovable: removesRows ? rowsAbove + 1 : undefined,
  };
}
