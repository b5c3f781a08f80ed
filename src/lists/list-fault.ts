/** A fault of a list, for whoever has sent it: a page or an answer shows it. */

export class ListFault extends Error {
  override readonly name = "ListFault";

  /** @param statusCode of HTTP */
  constructor(
    readonly statusCode: number,
    message: string,
  ) {
    super(message);
  }
}
