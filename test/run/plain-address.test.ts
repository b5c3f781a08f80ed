/** Covers items that observers read without their records: they are those of the records. */
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, expect, test } from "vitest";
import type { ObservedRows } from "../../src/core/run/run-options.js";
import { offlineValidator } from "../../src/core/validator/offline.js";
import { classifier } from "../support/classifier.js";
import { TestQuota } from "../support/quota.js";
import { runTable } from "../support/run-table.js";
import { temporaryFolder } from "../support/temporary-folder.js";
import { times } from "../support/tier.js";

const quotaFile = await TestQuota.open(join(temporaryFolder(), "quota.db"), Date.now);
const validator = offlineValidator({ classifier, source: {} }, quotaFile);
afterAll(() => quotaFile.close());

const local = fc.constantFrom("ann", "Ann.Lee", "o'neil", "a|b", "x+1", "é.ann", "a;b", "-ann", "n/a", "a=b");
const domain = fc.constantFrom("gmail.com", "GMail.COM", "bücher.de", "larch-and-oak.com", "gmial.com", "a", "a.b.");
const around = fc.constantFrom(
  "@",
  "@",
  "@",
  " @ ",
  "<@>",
  "Ann <@>",
  "mailto:@",
  "'@'",
  "x|@",
  "x'@",
  "(@)",
  "x;@",
  "@,",
);
const value = fc.tuple(local, domain, around).map(([name, host, text]) => text.replace("@", `${name}@${host}`));

test("the item of a row is that of its record, whatever is around it", async () => {
  const asked = fc.asyncProperty(
    fc.array(value, { minLength: 1, maxLength: 60 }),
    fc.constantFrom(",", ";", "\t", "|", " "),
    fc.constantFrom('"', "'", ""),
    fc.boolean(),
    async (values, delimiter, quote, isQuoted) => {
      const field = (text: string) => (isQuoted ? quote + text.replaceAll(quote, quote + quote) + quote : text);
      const rows = values.map((text) => [field("note"), field(text), "x\n"].join(delimiter));
      const observe = ({ codes, item, locate }: ObservedRows) => {
        const items = Array.from(codes.keys(), item);
        expect(items).toEqual(Array.from(codes.keys(), (row) => locate(row).item));
      };
      await runTable(`id${delimiter}email${delimiter}x\n${rows.join("")}`, validator, {
        table: {
          columns: ["2"],
          delimiter,
          dialect: { quote, escape: quote },
          ragged: "pad",
          badRows: "skip",
          force: true,
        },
        observers: [{ wants: { mailboxes: false, columns: [] }, observe }],
      });
    },
  );
  await fc.assert(asked, { numRuns: times(1500, 150) });
});
