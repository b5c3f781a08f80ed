/** Why a table cannot be validated in a browser. */
import type { FaultCode } from "../../fault.js";

/** The message is one line in English. */
export class TableFault extends Error {
  override readonly name = "TableFault";

  constructor(
    /** `gone`: the file was moved or changed. The others are in {@link FaultCode}. */
    readonly code: FaultCode | "gone",
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}
