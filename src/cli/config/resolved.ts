/** A value with its source. */

export interface Resolved<Value> {
  readonly value: Value;
  readonly source: string;
  /**
   * Set when the value comes from a project's file and may send requests to an origin that the user's own settings do
   * not name: a clone or an unpacked archive must not decide where a key is sent.
   */
  readonly isUntrusted?: true;
}
