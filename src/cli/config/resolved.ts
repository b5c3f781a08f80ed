/** A value with its source. */

export interface Resolved<Value> {
  readonly value: Value;
  readonly source: string;
  /** From a project's file, for an origin that is not the user's: a clone must not decide where a key goes. */
  readonly isUntrusted?: true;
}
