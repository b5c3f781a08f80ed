/** Covers the counts of items at disposable domains. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { DomainCounts, topDomains } from "../../src/core/run/domain-counts.js";
import { mostTopDomains } from "../../src/core/run/run-options.js";

const counts = fc.array(fc.tuple(fc.stringMatching(/^[a-d]{1,3}$/), fc.integer({ min: 1, max: 6 })), {
  maxLength: 100,
  size: "max",
});

test("domains are sorted by their number of items, then by name", () => {
  fc.assert(
    fc.property(counts, (entries) => {
      const sorted = Array.from(new Map(entries), ([domain, items]) => ({ domain, items }))
        .sort((a, b) => b.items - a.items || (a.domain < b.domain ? -1 : 1))
        .slice(0, mostTopDomains);
      expect(topDomains(new Map(entries))).toEqual(sorted);
    }),
  );
});

test("items can be subtracted, and a domain without items is left out", () => {
  const domains = new DomainCounts();
  domains.add("a.com", 2);
  domains.add("b.com");
  domains.add("a.com", -1);
  domains.add("b.com", -1);
  expect(domains.top()).toEqual([{ domain: "a.com", items: 1 }]);
});

test("domains with the fewest items drop out beyond 100,000", () => {
  const domains = new DomainCounts();
  for (let i = 0; i < 120_000; i++) {
    domains.add(`d${i}.com`);
    if (i % 1000 === 0) domains.add("frequent.com");
  }
  expect(domains.top()[0]).toEqual({ domain: "frequent.com", items: 120 });
});
