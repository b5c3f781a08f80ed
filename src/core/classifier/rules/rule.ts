/** The types of a rule: its reason, its decision, and facts for the kernel. */

export type ClassifierStatus = "ok" | "alias" | "disposable" | "fake";

/** `code` is stable. Reports show `words` and `plainly`, the person sees `forPerson`; `example` is Markdown. */
export interface ReasonRecord {
  readonly code: string;
  readonly status: ClassifierStatus;
  readonly words: string;
  readonly plainly?: string;
  readonly source: string;
  readonly forPerson: string;
  readonly example: string;
}

export const checkDomain = "Please check what comes after the @.";

/** `subject` follows the code in the reason. `suggestion` is the domain that was probably meant. */
export type Found = { readonly subject?: string | undefined; readonly suggestion?: string | undefined };

export interface DomainRule extends ReasonRecord {
  /** Names unknown to the kernel, which asks the classifier about each domain with the first label of one. */
  readonly names?: readonly string[];
  find(ascii: string): Found | undefined;
}

export interface MailboxRule extends ReasonRecord {
  /** Domains, families or first labels that the rule is about. At other domains, it may be skipped. */
  readonly names: readonly string[];
  at(ascii: string, family: string | undefined): MailboxTest | undefined;
}

export interface MailboxTest {
  /** `local` is unquoted, in either case; `plus` is the index of its first `+`, or -1. */
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
  readonly positions: Uint8Array;
  readonly shortest: number;
  readonly longest: number;
  /** `apart`: not at the ends, nor two in a row. `ignored`: as `apart`, and not counted in the length. */
  readonly dots: "ignored" | "apart" | "free";
}
