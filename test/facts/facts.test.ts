/** Covers the facts of a run: their sum, their schema, and that whatever shows them gives the same counts. */
import { Ajv2020 } from "ajv/dist/2020.js";
import fc from "fast-check";
import { expect, test } from "vitest";
import { textSummary } from "../../src/cli/bulk/report/summary.js";
import { ruleReasons } from "../../src/core/classifier/rules/rules.js";
import { emptyFacts, type Facts, factsOf, sumOf } from "../../src/core/facts/facts.js";
import { factsSchema } from "../../src/core/facts/facts-schema.js";
import { beforeIn, renderJson } from "../../src/core/facts/render/json.js";
import { renderMarkdown } from "../../src/core/facts/render/markdown.js";
import { renderPage, renderParts } from "../../src/core/facts/render/page.js";
import { renderPicture } from "../../src/core/facts/render/picture.js";
import { opening } from "../../src/core/facts/words.js";
import { noRows } from "../../src/core/run/run-options.js";
import { grouped } from "../../src/text.js";
import { times } from "../support/tier.js";

const isSchema = new Ajv2020({ strict: false, validateFormats: false }).compile(factsSchema);
const count = fc.integer({ min: 0, max: 3_000_000 });
const word = fc.stringMatching(/^[\p{L}\p{N}<>&`"'|_*:@\u{0}-\u{1f}\u{202e} .-]{1,20}$/u);

const input = fc
  .record({ name: word, column: fc.integer({ min: 1, max: 99 }), badRows: count })
  .map(({ name, column, badRows }): Facts["inputs"][number] => ({
    name,
    column,
    columnName: name,
    columns: [name],
    otherColumns: [],
    passedOver: [],
    dialect: { delimiter: ",", quote: '"', escape: '"', skipsSpaces: false, isUnwrapped: false },
    encoding: null,
    linesLeftOut: 0,
    sheet: null,
    emptyFormulas: null,
    hiddenRows: null,
    otherElements: null,
    elsewhere: null,
    badRowKinds: badRows === 0 ? [] : [{ kind: "open quote", count: badRows, lines: [1] }],
    outvoted: { count: 0, lines: [] },
  }));

/** The facts of a run over one file. */
const facts: fc.Arbitrary<Facts> = fc
  .record({
    input,
    statuses: fc.record({ ok: count, alias: count, disposable: count, fake: count, quota_exceeded: count }),
    other: count,
    empty: count,
    reasons: fc.dictionary(fc.constantFrom(...ruleReasons.map(({ code }) => code)), fc.integer({ min: 1, max: 999 })),
    domains: fc.uniqueArray(fc.tuple(fc.domain(), fc.integer({ min: 1, max: 999 })), { selector: ([name]) => name }),
    repairable: count,
    charged: count,
    left: fc.option(count),
    more: fc.record({
      emptied: count,
      marked: count,
      fixed: count,
      kept: count,
      notUtf8: count,
      cached: count,
      prechecked: count,
    }),
  })
  .map(({ input, statuses, other, empty, reasons, domains, repairable, charged, left, more }) => {
    const found = { ...statuses, ...(other > 0 && { catch_all: other }) };
    const rows = empty + Object.values(found).reduce((sum, each) => sum + each, 0);
    const report = {
      ...{ ...noRows, ...more },
      ...{ rows, written: rows, emptyRows: empty, distinct: rows, charged, repairable },
      statuses: new Map(Object.entries(found)),
      reasons: new Map(Object.entries(reasons)),
      topDomains: domains.slice(0, 20).map(([domain, items]) => ({ domain, items })),
      quota: { left, renewsAt: null },
    };
    const badRows = input.badRowKinds.reduce((sum, each) => sum + each.count, 0);
    return { ...emptyFacts("email", "idv 1"), ...factsOf("email", report), inputs: [input], badRows };
  });

const some = fc.array(facts, { minLength: 1, maxLength: 3 }) as fc.Arbitrary<[Facts, ...Facts[]]>;

test("facts and their sum fit the schema, which knows all of their fields", () => {
  fc.assert(
    fc.property(some, (files) => {
      for (const each of [files[0], sumOf(files)]) {
        expect(isSchema(JSON.parse(JSON.stringify(each))), JSON.stringify(isSchema.errors)).toBe(true);
        expect(Object.keys(each).sort()).toEqual(Object.keys(factsSchema.properties).sort());
        for (const found of each.inputs)
          expect(Object.keys(found).sort()).toEqual(
            Object.keys(
              (factsSchema.properties["inputs"] as { items: { properties: object } }).items.properties,
            ).sort(),
          );
      }
    }),
    { numRuns: times(100) },
  );
});

test("a sum has the counts of its parts, in any grouping", () => {
  fc.assert(
    fc.property(facts, facts, facts, (a, b, c) => {
      const whole = sumOf([a, b, c]);
      // Only the most frequent domains are in a sum.
      const { topDomains: _, ...counted } = sumOf([sumOf([a, b]), c]);
      expect(counted).toEqual(Object.fromEntries(Object.entries(whole).filter(([name]) => name !== "topDomains")));
      const numbers = (facts: Facts) =>
        Object.entries(facts).filter(([name, value]) => typeof value === "number" && name !== "version");
      const parts = [b, c].map((facts) => new Map(numbers(facts) as [string, number][]));
      for (const [name, number] of numbers(a) as [string, number][])
        expect([name, whole[name as keyof Facts]]).toEqual([
          name,
          parts.reduce((sum, part) => sum + part.get(name)!, number),
        ]);
      expect(whole.statuses["fake"]).toBe(a.statuses["fake"]! + b.statuses["fake"]! + c.statuses["fake"]!);
      expect(whole.units.used).toBe(a.units.used + b.units.used + c.units.used);
    }),
    { numRuns: times(100) },
  );
});

/** Returns the rows of statuses that a reader sees. */
const readers: Readonly<Record<string, (facts: Facts) => Map<string, string>>> = {
  text: (facts) => pairs(textSummary(facts, undefined), /^ {2}(\S+) +([\d,]+)$/gm),
  terminal: (facts) =>
    pairs(
      textSummary(facts, { chalk: undefined, columns: 80, isUnicode: false }),
      /^ {2}(\S+) +([\d,]+) {2} *[\d.]+ %/gm,
    ),
  page: (facts) => rowsOf(renderPage(facts)),
  Markdown: (facts) =>
    pairs(renderMarkdown(facts).replace("undeliverable (fake)", "fake"), /^\| (\S+) \| ([\d,]+) \| [\d.]+ % \|/gm),
  picture: (facts) =>
    pairs(renderPicture(facts).replaceAll("undeliverable", "fake"), />(\S+) ([\d,]+) \([\d.]+ %\)<\/text>/g),
  "list page": (facts) => rowsOf(renderParts(facts).result),
};

const rowsOf = (html: string) =>
  pairs(
    html.replace(/<svg.*?<\/svg>/gs, ""),
    /<tr><th scope="row">(?:undeliverable<small> )?([^<]+)(?:<\/small>)?<\/th><td class="number">([\d,]+)<\/td>/g,
  );

const pairs = (text: string, pattern: RegExp): Map<string, string> =>
  new Map([...text.matchAll(pattern)].map(([, name, figure]) => [name!.replaceAll("\\", ""), figure!]));

test.each(Object.entries(readers))("the %s gives the counts of the facts", (_, statusesIn) => {
  fc.assert(
    fc.property(some, (files) => {
      const found = files.length === 1 ? files[0] : sumOf(files);
      const expected = Object.entries({ ...found.statuses, "(empty)": found.empty })
        .filter(([, number]) => number > 0)
        .map(([name, number]) => [name, grouped(number)] as const);
      expect(new Map([...statusesIn(found)].sort())).toEqual(new Map([...expected].sort()));
    }),
    { numRuns: times(50) },
  );
});

test.each([
  ["page", renderPage],
  ["Markdown", renderMarkdown],
  ["JSON", renderJson],
  ["picture", renderPicture],
])("the next report reads its predecessor from the %s, whatever the names are", (_, render) => {
  fc.assert(
    fc.property(some, (files) => {
      const found = sumOf(files);
      const { made, rows, empty, statuses, inputs } = found;
      const before = { made, rows, empty, statuses, inputs: inputs.map(({ name }) => name) };
      expect(beforeIn(render(found))).toEqual(before);
      expect(opening({ ...found, before }).details).toMatch(rows > empty ? /As in the report of/ : /^/);
    }),
    { numRuns: times(50) },
  );
});
