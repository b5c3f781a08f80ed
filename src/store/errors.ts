/** The error of a state file. */

/** A state file cannot be used. The message has its path, the fault and what to do. */
export class StoreError extends Error {
  override readonly name = "StoreError";
}
