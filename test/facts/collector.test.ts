/** Covers the collector: what it counts in a run is what a plain count over the same rows finds. */
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, expect, test } from "vitest";
import { Collector } from "../../src/core/facts/collector.js";
import { series } from "../../src/core/facts/groups.js";
import { findDateColumn } from "../../src/core/facts/months.js";
import { itemKey, mailboxKey } from "../../src/core/run/items/item.js";
import { offlineValidator } from "../../src/core/validator/offline.js";
import { classifier } from "../support/classifier.js";
import { TestQuota } from "../support/quota.js";
import { runTable } from "../support/run-table.js";
import { temporaryFolder } from "../support/temporary-folder.js";
import { times } from "../support/tier.js";

const quotaFile = await TestQuota.open(join(temporaryFolder(), "quota.db"), Date.now);
const validator = offlineValidator({ classifier, source: {} }, quotaFile);
afterAll(() => quotaFile.close());

const names = ["ann", "Ann", "ann.lee", "annlee", "ann+news", "o'neil", "test", "a.b.c"];
const domains = [
  ...["gmail.com", "GMail.com", "googlemail.com", "hotmail.com", "larch-and-oak.com", "mailinator.com"],
  ...["ann.fastmail.com", "bücher.de", "xn--bcher-kva.de", "gmial.com", "a.invalid", "no dots"],
];
const email = fc
  .tuple(fc.constantFrom(...names), fc.constantFrom(...domains), fc.constantFrom("", "", "", "Ann <"))
  .map(([name, domain, before]) => `${before}${name}@${domain}${before && ">"}`);
const date = fc.constantFrom("2026-01-05", "2026-01-31", "2026-02-01", "2026-11-25", "", "soon");
const rows = fc.array(fc.tuple(email, date), { minLength: 20, maxLength: 400, size: "max" });

/** Counts in plain JavaScript what the collector counts. */
function countPlainly(table: readonly (readonly [email: string, date: string])[], statuses: readonly string[]) {
  const providers = new Map<string, number[]>();
  const months = new Map<string, number[]>();
  const items = new Set<string>();
  const reached: [item: string, mailbox: string][] = [];
  const add = (counts: Map<string, number[]>, name: string, status: string) => {
    const none = series.map(() => 0);
    if (!counts.has(name)) counts.set(name, none);
    counts.get(name)![series.indexOf(status)]!++;
  };
  for (const [row, [value, day]] of table.entries()) {
    const item = value.replace(/^Ann <(.*)>$/, "$1");
    const domain = item.slice(item.lastIndexOf("@") + 1).toLowerCase();
    const status = statuses[row]!;
    if (!classifier.classify("email", item).reason?.startsWith("syntax")) add(providers, domain, status);
    if (/^\d/.test(day)) add(months, day.slice(0, 7), status);
    // Another spelling of an item is no other item.
    if (!items.has(itemKey(item))) reached.push([itemKey(item), mailboxKey("email", item)]);
    items.add(itemKey(item));
  }
  const others = reached.filter(([item, mailbox]) => item !== mailbox).map(([, mailbox]) => mailbox);
  const unlisted = new Set(others.filter((mailbox) => !items.has(mailbox)));
  return { providers, months, sameMailbox: others.length - unlisted.size };
}

test("the collector counts domains, months and mailboxes like a plain loop", async () => {
  const asked = fc.asyncProperty(rows, fc.boolean(), async (table, isService) => {
    const choices = { withAddresses: false, withFlags: false };
    const collector = new Collector({ kind: "email", explain: classifier.classify, ...choices });
    const dates = findDateColumn(["created"], () => ["2026-01-05", "2026-02-01"]);
    const observer = collector.observerOf("list.csv", { ...dates!, column: 1 });
    const text = `email,created\n${table.map((fields) => fields.join(",")).join("\n")}\n`;
    const { rows: written } = await runTable(text, validator, { isService, observers: [observer] });
    collector.keepFile();
    const statuses = written.map((row) => row.slice(row.lastIndexOf(",") + 1));
    const expected = countPlainly(table, statuses);
    const { providers, months, sameMailbox } = collector.breakdown();
    const mapOf = (counts: typeof providers) => new Map(counts.map(({ name, counts }) => [name, [...counts]]));
    const bad = ["fake", "disposable"].map((status) => series.indexOf(status));
    const isBad = ([, counts]: readonly [string, readonly number[]]) => bad.some((nth) => counts[nth]! > 0);
    expect(mapOf(providers)).toEqual(new Map([...expected.providers].filter(isBad)));
    expect(mapOf(months?.counts ?? [])).toEqual(expected.months);
    expect(sameMailbox).toBe(expected.sameMailbox);
  });
  await fc.assert(asked, { numRuns: times(60) });
});
