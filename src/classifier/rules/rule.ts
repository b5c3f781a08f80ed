/**
 * What a rule is: the code and the words of its reason, its decision, and what the kernel has to know of it. `rules.ts` lists all rules
 * in their order. A rule knows no other one.
 */

/** Statuses that the classifier gives. */
export type ClassifierStatus = "ok" | "alias" | "disposable" | "fake";

/** Why an item has its status. */
export interface ReasonFacts {
  /** Stable code, with which the reason starts. */
  readonly code: string;
  readonly status: ClassifierStatus;
  /** The reason in the words of the report. */
  readonly words: string;
  /** An example for `idv help statuses`, in Markdown. */
  readonly example: string;
}

/** What a rule has found. */
export interface Found {
  /** What the reason names after its code, if anything. */
  readonly subject?: string | undefined;
  /** Domain that was probably meant. */
  readonly suggestion?: string | undefined;
}

/** A rule for domains, and all addresses at them. */
export interface DomainRule extends ReasonFacts {
  /**
   * Names that the rule is about, as far as the kernel does not find them by itself: it asks about each domain with the first label of
   * one of them.
   */
  readonly names?: readonly string[];
  /** @param ascii a host name, lower case, A-labels */
  find(ascii: string): Found | undefined;
}

/** A rule for the mailboxes at domains that pass. */
export interface MailboxRule extends ReasonFacts {
  /** Domains, or families of domains, that the rule is about: without them here, it has no effect. */
  readonly names: readonly string[];
  /**
   * Returns the test for the mailboxes of a domain, if there is one.
   *
   * @param ascii a host name, lower case, A-labels
   * @param family the domain's family, from `providerFamily`
   */
  at(ascii: string, family: string | undefined): MailboxTest | undefined;
}

/** The test of a rule for the mailboxes of one domain. */
export interface MailboxTest {
  /**
   * @param local the local part, in either case, without the quotes and backslashes of a quoted string
   * @param plus index of its first `+`; -1 if there is none
   */
  find(local: string, plus: number): Found | undefined;
  /** What the kernel needs to decide in the same way. If it is absent, the classifier is asked about each address at the domain. */
  readonly kernel?: KernelFacts | undefined;
}

/** What the kernel has to know of the mailboxes at a domain; see kernel/tables.ts. */
export interface KernelFacts {
  /** The rule is about all of them. */
  readonly isForAll?: true;
  /** The form that their names have. */
  readonly name?: MailboxName | undefined;
  readonly hasNoPlus?: boolean | undefined;
  /** Words that stand for no mailbox are looked for; see `placeholderStarts`. */
  readonly hasPlaceholders?: boolean;
  readonly isRelay?: boolean;
  readonly isSubAddress?: boolean;
}

/** Form of the mailbox names of a provider. */
export interface MailboxName {
  /** Positions allowed for each byte: a sum of 1 for the start, 2 for the inside and 4 for the end. */
  readonly places: Uint8Array;
  /** Fewest characters. */
  readonly shortest: number;
  /** Most characters. */
  readonly longest: number;
  /**
   * Treatment of dots. `free`: like any other character. `apart`: not at the ends, nor two in a row. `ignored`: as
   * `apart`, and they do not count as characters.
   */
  readonly dots: "ignored" | "apart" | "free";
}
