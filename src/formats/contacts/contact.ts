/** A person in an address book. The name may be empty. */
export interface Contact {
  readonly name: string;
  readonly addresses: readonly string[];
}
