/** A person in an address book. The name may be empty. */
export interface Contact {
  readonly name: string;
  readonly addresses: readonly string[];
}

/** In batches: a step for each would take longer than to read it. */
export type Contacts = AsyncGenerator<readonly Contact[]>;
