/** A person in an address book. */
export interface Contact {
  /** Empty if the person has none. */
  readonly name: string;
  readonly addresses: readonly string[];
}
