/** Tells where a verdict comes from: the rule and its source, the lists with the domain, and who takes corrections. */
import type { Classifier } from "./classifier.js";
import { listedDomain } from "./rules/domain/disposable-domain.js";
import { reasonOf } from "./rules/rules.js";
import type { Classification } from "./verdict.js";

export interface Why {
  /** The rule that decided, in words; undefined if no rule did. */
  readonly rule?: string;
  /** Where the rule comes from: an RFC, or a page. */
  readonly source?: string;
  /** A sentence for the person whose address it is. */
  readonly forPerson: string;
  /** The domain that is listed, if lists have decided. */
  readonly listed?: string;
  /** The lists that have it, with the day of their data: `2026-09-21`. Correcting lists are among them. */
  readonly lists: readonly {
    readonly name: string;
    readonly published: string;
    /** Page on which the authors take corrections. */
    readonly corrections?: string;
  }[];
  /** Whether idv itself lists the domain, as a free zone or as an exchange of a disposable service. */
  readonly isOwn: boolean;
}

export function whyOf(classifier: Pick<Classifier, "listsWith">, { reason }: Classification): Why {
  const record = reason === undefined ? undefined : reasonOf(reason.split(":")[0]!);
  const listed = listedDomain(reason);
  const { lists, isOwn } = listed === undefined ? { lists: [], isOwn: false } : classifier.listsWith(listed);
  return {
    ...(record && { rule: record.words, source: record.source }),
    forPerson: record?.forPerson ?? "This address is accepted.",
    ...(listed !== undefined && { listed }),
    lists: lists.map(({ name, published, corrections }) => ({ name, published, ...(corrections && { corrections }) })),
    isOwn,
  };
}
