/** A fault of a list, for whoever has sent it: a page or an answer shows it. */

export class ListFault extends Error {
  override readonly name = "ListFault";

  /**
   * @param statusCode of HTTP
   * @param cause error of the system, for the log
   */
  constructor(
    readonly statusCode: number,
    message: string,
    cause?: unknown,
  ) {
    super(message, { cause });
  }
}
