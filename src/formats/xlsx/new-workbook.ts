/** Makes workbooks with one sheet of rows. */

import { ChoiceError } from "../../files/errors.js";
import { piecesOf } from "../../files/web-stream.js";
import type { SheetKind, WriteRows } from "../format.js";
import type { RowBatches } from "./sheet.js";

/**
 * All cells are text: numbers such as post codes keep their zeros. If a table has more rows than a sheet can have, it
 * continues in another sheet.
 *
 * @param file its name, for the message
 * @throws ChoiceError for a workbook with macros
 */
export async function newWorkbook(file: string, kind: SheetKind, sheet: string): Promise<WriteRows> {
  if (kind === "xlsm") {
    throw new ChoiceError(`${file}: a workbook with macros is made from one only; name it .xlsx`);
  }
  const name = sheetName(sheet);
  const { writeXlsxStream } = await import("./writing.js");
  async function* each(batches: RowBatches) {
    for await (const rows of batches) yield* rows as Iterable<string[]>;
  }
  return (batches) => piecesOf(writeXlsxStream(each(batches), { name }));
}

/** Returns a name that Excel accepts for a sheet: up to 31 characters, without some special characters. */
const sheetName = (name: string): string =>
  name
    .replace(/[\\/?*[\]:]/g, " ")
    .replace(/^[\s']+|[\s']+$/g, "")
    .slice(0, 31) || "Sheet1";
