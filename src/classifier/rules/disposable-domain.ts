/** The rule for disposable domains: the names in the table, and all domains below them. */
import type { DisposableTable } from "../disposable-table.js";
import type { DomainRule, ReasonRecord } from "./rule.js";

export const disposableDomain = {
  code: "disposable-domain",
  status: "disposable",
  words: "disposable domain",
  example: "`disposable-domain: mailinator.com`",
} as const satisfies ReasonRecord;

export const disposableDomainIn = (table: DisposableTable): DomainRule => ({
  ...disposableDomain,
  find(ascii) {
    const subject = table.find(ascii);
    return subject === undefined ? undefined : { subject };
  },
});
