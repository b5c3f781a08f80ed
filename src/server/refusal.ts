/** A fault that an answer or a page shows. */

interface Details {
  /** The reason, for programs, where a status code has several. */
  readonly code?: string;
  /** Seconds until the request may be sent again. */
  readonly retryAfter?: number | undefined;
  /** Name of the field of a form. */
  readonly field?: string | undefined;
  /** An error of the system, for the log. */
  readonly cause?: unknown;
}

export class Refusal extends Error {
  constructor(
    readonly statusCode: number,
    message: string,
    readonly details: Details = {},
  ) {
    super(message, details);
  }
}
