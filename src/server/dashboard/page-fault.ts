/** A fault that a page shows. */

export class PageFault extends Error {
  override readonly name = "PageFault";

  constructor(
    readonly statusCode: number,
    message: string,
    /** Name of the field at fault, if it is one of a form. */
    readonly field?: string,
  ) {
    super(message);
  }
}
