import { readFileSync } from "node:fs";
import { type Address, parseAddress } from "./address.js";
import { DisposableTable } from "./disposable-table.js";
import { type DomainName, parseDomainName, withoutRoot } from "./domain-name.js";
import { Fault } from "./fault.js";
import { findImpossibleMailbox } from "./mailbox-grammar.js";
import { isPlaceholder } from "./placeholder.js";
import { findSuffix } from "./public-suffix.js";
import { findRelay } from "./relay.js";
import { findSpecialUse } from "./special-use.js";
import { findSubAddress } from "./sub-address.js";
import { findTypo } from "./typo-domain.js";
import type { Classification, Kind } from "./verdict.js";

/** Classifies one item. Never throws; takes time linear in the item's length. */
export type Classifier = (kind: Kind, item: string) => Classification;

/** A rule speaks, or leaves the item to the next one. */
type DomainRule = (ascii: string) => Classification | undefined;
type MailboxRule = (local: string, ascii: string) => Classification | undefined;

/** Reads the compiled table of disposable domains that lies beside this module, and makes the classifier. */
export function loadClassifier(): Classifier {
  return createClassifier(new DisposableTable(readFileSync(new URL("disposable.bin", import.meta.url))));
}

/** Makes the classifier over a table of disposable domains. It does no I/O and keeps no state. */
export function createClassifier(disposable: DisposableTable): Classifier {
  /** The tests of a domain, in order: the first that speaks decides. */
  const domainRules: readonly DomainRule[] = [
    (ascii) => fakeIf("special-use", findSpecialUse(ascii)),
    (ascii) => syntaxPolicy(ascii),
    (ascii) => {
      const suffix = findSuffix(ascii);
      if (suffix === "registrable") return undefined;
      if (suffix === "public-suffix") return fake(`public-suffix: ${ascii}`);
      const unknown = fake(`unknown-tld: ${ascii.slice(ascii.lastIndexOf(".") + 1)}`);
      const meant = findTypo(ascii);
      return meant === undefined ? unknown : { ...unknown, suggestion: meant };
    },
    (ascii) => {
      const meant = findTypo(ascii);
      return meant === undefined
        ? undefined
        : { status: "fake", reason: `typo-domain: ${ascii}`, suggestion: meant };
    },
    (ascii) => {
      const listed = disposable.find(ascii);
      return listed === undefined
        ? undefined
        : { status: "disposable", reason: `disposable-domain: ${listed}` };
    },
  ];

  /** What follows for an address whose domain passed. */
  const mailboxRules: readonly MailboxRule[] = [
    (_local, ascii) => fakeIf("no-reply", ascii === "users.noreply.github.com" ? ascii : undefined),
    (local, ascii) => {
      const why = findImpossibleMailbox(local, ascii);
      return fakeIf("impossible-mailbox", why && `${ascii} ${why}`);
    },
    (local, ascii) => (isPlaceholder(local, ascii) ? { status: "fake", reason: "placeholder" } : undefined),
    (_local, ascii) => aliasIf("relay", findRelay(ascii)),
    (local, ascii) => aliasIf("sub-address", findSubAddress(local, ascii)),
  ];

  const classifyName = (name: DomainName) => firstVerdict(domainRules, (rule) => rule(name.ascii));

  function classifyDomain(item: string): Classification {
    const name = parseDomainName(withoutRoot(item));
    return name instanceof Fault ? syntaxFault(name) : (classifyName(name) ?? ok);
  }

  function classifyEmail(item: string): Classification {
    const address: Address | Fault = parseAddress(item);
    if (address instanceof Fault) return syntaxFault(address);
    const { local, domain } = address;
    if (domain === undefined) return fake("syntax: an address literal instead of a domain");
    const verdict = classifyName(domain);
    if (verdict === undefined) {
      return firstVerdict(mailboxRules, (rule) => rule(local, domain.ascii)) ?? ok;
    }
    if (verdict.suggestion === undefined) return verdict;
    // What was meant is the same mailbox, as it is written, at the right domain.
    const mailbox = item.slice(0, item.lastIndexOf("@"));
    return { ...verdict, suggestion: `${mailbox}@${verdict.suggestion}` };
  }

  return (kind, item) => (kind === "email" ? classifyEmail(item) : classifyDomain(item));
}

const ok: Classification = { status: "ok" };
const fake = (reason: string): Classification => ({ status: "fake", reason });
const syntaxFault = (fault: Fault): Classification => fake(fault.reason);
const fakeIf = (code: string, subject: string | undefined) =>
  subject === undefined ? undefined : fake(`${code}: ${subject}`);
const aliasIf = (code: string, subject: string | undefined): Classification | undefined =>
  subject === undefined ? undefined : { status: "alias", reason: `${code}: ${subject}` };

/** RFC 5321 allows these in a domain; nobody receives mail there. */
function syntaxPolicy(ascii: string): Classification | undefined {
  const lastDot = ascii.lastIndexOf(".");
  if (lastDot === -1) return fake("syntax: a domain without a dot");
  return /^\d+$/.test(ascii.slice(lastDot + 1)) ? fake("syntax: a numeric top-level domain") : undefined;
}

function firstVerdict<Rule>(
  rules: readonly Rule[],
  apply: (rule: Rule) => Classification | undefined,
): Classification | undefined {
  for (const rule of rules) {
    const verdict = apply(rule);
    if (verdict !== undefined) return verdict;
  }
  return undefined;
}
