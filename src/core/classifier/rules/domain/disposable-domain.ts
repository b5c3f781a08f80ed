/** The rule for disposable domains: the names in the table, and all domains below them. */
import { findListed, type NameTable } from "../../tables/name-table.js";
import type { DomainRule, ReasonRecord } from "../rule.js";

export const disposableDomain = {
  code: "disposable-domain",
  status: "disposable",
  words: "disposable domain",
  source: "lists of disposable domains, and a table of free zones",
  forPerson:
    "The domain of this address is on lists of services for temporary addresses. If it is a lasting address, ask the lists to remove the domain.",
  example:
    "`disposable-domain: mailinator.com`; `disposable-domain: us.to (free subdomain)`, where anybody can have a name",
} as const satisfies ReasonRecord;

const freeSubdomain = " (free subdomain)";

export const disposableDomainIn = (names: NameTable): DomainRule => ({
  ...disposableDomain,
  find(ascii) {
    const listed = findListed(names, ascii);
    if (listed === undefined) return undefined;
    return { subject: names.flagsOf(listed) === 1 ? `${listed}${freeSubdomain}` : listed };
  },
});

const start = `${disposableDomain.code}: `;

export function listedDomain(reason: string | undefined): string | undefined {
  if (!reason?.startsWith(start)) return undefined;
  return reason.slice(start.length, reason.endsWith(freeSubdomain) ? -freeSubdomain.length : undefined);
}
