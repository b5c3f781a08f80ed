import { findSuffixIn } from "./suffix-walk.js";
import { type Address, parseAddress } from "./syntax/address.js";
import { type DomainName, parseDomainName, withoutRoot } from "./syntax/domain-name.js";
import { Fault } from "./syntax/fault.js";

/** The user's own lists, as the lines of their files: domains and whole addresses. */
export interface OwnLists {
  readonly allow: readonly string[];
  readonly deny: readonly string[];
}

export const noOwnLists: OwnLists = { allow: [], deny: [] };

/** What an entry of a list names: a domain with all below it, or one mailbox. Both lower case, the domain in A-labels. */
export type ListEntry = { readonly domain: string } | { readonly domain: string; readonly mailbox: string };

/**
 * Reads a line of a list: a domain (`*.` before it means nothing, all below a domain is meant anyway), an address, or
 * nothing but a comment behind `#`.
 */
export function parseListLine(line: string): ListEntry | Fault | undefined {
  const text = line.replace(/(^|\s)#.*$/, "").trim();
  if (text === "") return undefined;
  if (!text.includes("@")) {
    const name: DomainName | Fault = parseDomainName(withoutRoot(text.replace(/^\*\./, "")));
    return name instanceof Fault ? name : { domain: name.ascii };
  }
  const address: Address | Fault = parseAddress(text);
  if (address instanceof Fault) return address;
  if (address.domain === undefined) return new Fault("an address literal instead of a domain", 1);
  return { domain: address.domain.ascii, mailbox: mailboxKey(address.local) };
}

/** Local parts are the same to the lists if they differ in case only. */
const mailboxKey = (local: string): string => local.toLowerCase();

/** A list that is looked things up in. */
export class NameList {
  readonly #domains = new Set<string>();
  /** The listed mailboxes of each domain. */
  readonly #mailboxes = new Map<string, Set<string>>();

  /** @param lines those of its file; what is no entry is passed over */
  constructor(lines: readonly string[]) {
    for (const line of lines) {
      const entry = parseListLine(line);
      if (entry === undefined || entry instanceof Fault) continue;
      if (!("mailbox" in entry)) this.#domains.add(entry.domain);
      else {
        const mailboxes = this.#mailboxes.get(entry.domain) ?? new Set();
        this.#mailboxes.set(entry.domain, mailboxes.add(entry.mailbox));
      }
    }
  }

  /** The listed domain that `ascii` is or lies under, if any. */
  findDomain(ascii: string): string | undefined {
    if (this.#domains.size === 0) return undefined;
    return findSuffixIn(ascii, (suffix) => this.#domains.has(suffix));
  }

  /** Whether a mailbox of the domain is listed. */
  hasMailboxesAt(ascii: string): boolean {
    return this.#mailboxes.has(ascii);
  }

  hasMailbox(local: string, ascii: string): boolean {
    return this.#mailboxes.get(ascii)?.has(mailboxKey(local)) === true;
  }
}
