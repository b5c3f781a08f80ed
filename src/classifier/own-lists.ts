/**
 * The user's own allow and deny lists: parses their lines and looks items up. The files are read elsewhere.
 */
import { findSuffixIn } from "./suffix-walk.js";
import { type Address, parseAddress } from "./syntax/address.js";
import { type DomainName, parseDomainName, withoutRoot } from "./syntax/domain-name.js";
import { Fault } from "./syntax/fault.js";

/** Lines of the user's own lists. A line names a domain or a whole address. */
export interface OwnLists {
  readonly allow: readonly string[];
  readonly deny: readonly string[];
}

export const noOwnLists: OwnLists = { allow: [], deny: [] };

/** Entry of a list: a domain with all domains below it, or one mailbox. Lower case; the domain in A-labels. */
export type ListEntry = { readonly domain: string } | { readonly domain: string; readonly mailbox: string };

/**
 * Parses a line of a list: a domain or an address, optionally followed by white space and a comment from `#` on. A
 * leading `*.` is dropped because a domain includes all domains below it anyway.
 *
 * @returns undefined for an empty line or a comment; a fault when the line is neither a domain nor an address
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

/** Returns the key of a local part. The lists ignore case. */
const mailboxKey = (local: string): string => local.toLowerCase();

/** A list of domains and mailboxes to look up items in. */
export class NameList {
  readonly #domains = new Set<string>();
  /** Listed mailboxes by domain. */
  readonly #mailboxes = new Map<string, Set<string>>();

  /**
   * @param lines lines of the list; lines that are not entries are ignored, because the reader of the file reports them
   */
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

  /** Finds the longest listed domain that is `ascii` or a domain above it. */
  findDomain(ascii: string): string | undefined {
    if (this.#domains.size === 0) return undefined;
    return findSuffixIn(ascii, (suffix) => this.#domains.has(suffix));
  }

  /** Returns whether any mailbox at exactly this domain is listed. */
  hasMailboxesAt(ascii: string): boolean {
    return this.#mailboxes.has(ascii);
  }

  hasMailbox(local: string, ascii: string): boolean {
    return this.#mailboxes.get(ascii)?.has(mailboxKey(local)) === true;
  }
}
