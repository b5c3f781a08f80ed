/** A fault that is shown on a page. */

/** What a person has to know, and the status code of the page. */
export class PageFault extends Error {
  override readonly name = "PageFault";

  constructor(
    readonly statusCode: number,
    message: string,
  ) {
    super(message);
  }
}
