/** A fault that a page shows. */

export class PageFault extends Error {
  override readonly name = "PageFault";

  constructor(
    readonly statusCode: number,
    message: string,
    readonly field?: string,
  ) {
    super(message);
  }
}
