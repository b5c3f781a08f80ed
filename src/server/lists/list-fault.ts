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

export const removed = (): ListFault => new ListFault(410, "The list was removed.");

/** Removal takes steps, between which the request may be repeated. */
export const removedMeanwhile = (): ListFault =>
  new ListFault(409, "The list of this Idempotency-Key was removed just now; send it again.");
