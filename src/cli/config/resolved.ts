/** A setting's value with the place that it comes from. */

/** A setting's value, and where it comes from, for people. */
export interface Resolved<Value> {
  readonly value: Value;
  readonly source: string;
  /**
   * It comes from a project's file and says where requests go, while the user's own settings do not name that origin: a
   * clone or an unpacked archive must not decide where a key is sent.
   */
  readonly isUntrusted?: true;
}
