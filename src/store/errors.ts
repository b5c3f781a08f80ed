/** The error of a state file. */

/** A state file cannot be used. The message has its path, the fault and what to do. */
export class StoreError extends Error {
  override readonly name = "StoreError";

  /** Units that a failed change has charged all the same: it is in the file, but perhaps not durable. */
  readonly granted: number;

  constructor(message: string, { granted = 0, ...options }: ErrorOptions & { granted?: number } = {}) {
    super(message, options);
    this.granted = granted;
  }
}
