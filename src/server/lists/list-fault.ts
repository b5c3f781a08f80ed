/** A fault of a list, which a page or an answer shows. `cause` is an error of the system, for the log. */

export class ListFault extends Error {
  override readonly name = "ListFault";

  constructor(
    readonly statusCode: number,
    message: string,
    cause?: unknown,
  ) {
    super(message, { cause });
  }
}
