/** The types of a rule: its reason, its decision, and facts for the kernel. */

export type ClassifierStatus = "ok" | "alias" | "disposable" | "fake";

/**
 * A reason starts with `code`, which is stable; reports have `words` instead, and `plainly` what is behind them for people who do
 * not know the words. `source` is where the rule comes from, `forPerson` a sentence for the one whose address it is. `example`
 * is Markdown for the help.
 */
export interface ReasonRecord {
  readonly code: string;
  readonly status: ClassifierStatus;
  readonly words: string;
  readonly plainly?: string;
  readonly source: string;
  readonly forPerson: string;
  readonly example: string;
}

/** `subject` follows the code in the reason. `suggestion` is the domain that was probably meant. */
export interface Found {
  readonly subject?: string | undefined;
  readonly suggestion?: string | undefined;
}

export interface DomainRule extends ReasonRecord {
  /**
   * Names that the rule looks for and the kernel does not know. The kernel asks the classifier about each domain that has the
   * first label of such a name.
   */
  readonly names?: readonly string[];
  /** @param ascii a host name, lower case, A-labels */
  find(ascii: string): Found | undefined;
}

export interface MailboxRule extends ReasonRecord {
  /** Domains, families or first labels that the rule is about. At other domains, it may be skipped. */
  readonly names: readonly string[];
  /**
   * Returns the test for the mailboxes of a domain that passes, if the rule has one.
   *
   * @param ascii a host name, lower case, A-labels
   * @param family the domain's family, from `providerFamily`
   */
  at(ascii: string, family: string | undefined): MailboxTest | undefined;
}

export interface MailboxTest {
  /**
   * @param local in either case, without the quotes and backslashes of a quoted string
   * @param plus index of its first `+`; -1 if there is none
   */
  find(local: string, plus: number): Found | undefined;
  /** The same test for the kernel. Without it, the kernel asks the classifier about each address at the domain. */
  readonly kernel?: KernelRule | undefined;
}

export interface KernelRule {
  readonly isForAll?: true;
  readonly name?: MailboxName | undefined;
  readonly hasNoPlus?: boolean | undefined;
  readonly hasPlaceholders?: boolean;
  readonly isRelay?: boolean;
  readonly isSubAddress?: boolean;
}

export interface MailboxName {
  /** Positions allowed for each byte: a sum of 1 for the start, 2 for the inside and 4 for the end. */
  readonly positions: Uint8Array;
  readonly shortest: number;
  readonly longest: number;
  /**
   * `free`: dots are like other characters. `apart`: no dot at the ends, nor two in a row. `ignored`: as `apart`, and
   * `shortest` and `longest` do not count dots.
   */
  readonly dots: "ignored" | "apart" | "free";
}
