/** Faults of tables that are validated in a browser. */

/** Why a table cannot be validated. The message is one line in English. */
export class TableFault extends Error {
  override readonly name = "TableFault";

  constructor(
    /**
     * `gone`: the file was moved or changed. `damaged`: its bytes are no gzip, or no text. `workbook`: a spreadsheet file that
     * cannot be read. `table`: it is no table. `column`: no column holds items, or not the wanted one. `row`: a bad row.
     */
    readonly code: "gone" | "damaged" | "workbook" | "table" | "column" | "row",
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}
