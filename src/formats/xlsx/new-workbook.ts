/** Makes workbooks with one sheet of rows. */
import { ChoiceError } from "../../files/errors.js";
import { piecesOf } from "../../files/web-stream.js";
import type { SheetKind, WriteRows } from "../format.js";
import type { RowBatches } from "./sheet.js";
import { literalText } from "./xml.js";

/** All cells are text: post codes keep their zeros. Many rows take several sheets. @throws ChoiceError for xlsm */
export async function newWorkbook(file: string, kind: SheetKind, sheet: string): Promise<WriteRows> {
  if (kind === "xlsm") throw new ChoiceError(`${file}: a workbook with macros is made from one only; name it .xlsx`);
  const name = sheetName(sheet);
  const { writeXlsxStream } = await import("./writing.js");
  async function* each(batches: RowBatches) {
    for await (const rows of batches) for (const row of rows) yield row.map(literalText);
  }
  return (batches) => piecesOf(writeXlsxStream(each(batches), { name }));
}

/** Excel accepts up to 31 characters, without some special ones. */
const sheetName = (name: string): string =>
  name
    .replace(/[\\/?*[\]:]/g, " ")
    .replace(/^[\s']+|[\s']+$/g, "")
    .slice(0, 31) || "Sheet1";
