/** Covers `--dedupe`: every item of a row that passes the filter is in the output, and no row without a new one. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { decidesBefore } from "../../src/core/run/items/cells.js";
import { itemKey, mailboxKey } from "../../src/core/run/items/item.js";
import { offlineValidator } from "../../src/core/validator/offline.js";
import { classifier } from "../support/classifier.js";
import { listOf, runTable } from "../support/run-table.js";
import { times } from "../support/tier.js";

const granted = async (units: number) => ({
  granted: units,
  charged: units,
  exhausted: false,
  quota: { left: null, renewsAt: null },
});
const validator = offlineValidator({ classifier, source: {} }, { charge: granted as never });
const item = fc.constantFrom(
  ...["ann@larch-and-oak.com", "ANN@larch-and-oak.com", "ann+1@larch-and-oak.com", "bob@larch-and-oak.com"],
  ...["x@mailinator.com", "ann.lee@gmial.com", "ann.lee@gmail.com", "annlee@gmail.com"],
);
const rows = fc.array(fc.array(item, { maxLength: 3 }), { maxLength: 12 });

test.each([false, true])("--dedupe writes each item once, with a service: %s", async (isService) => {
  await fc.assert(
    fc.asyncProperty(
      rows,
      fc.constantFrom("item" as const, "canonical" as const),
      fc.constantFrom(undefined, "disposable", "fake", "ok"),
      async (table, dedupe, dropped) => {
        const keeps = (status: string) => status !== dropped;
        const keyOf = (text: string) => (dedupe === "item" ? itemKey(text) : mailboxKey("email", text));
        const written = new Set<string>();
        const expected: string[] = [];
        for (const items of table) {
          const statuses = items.map((text) => classifier.classify("email", text).status);
          const status = statuses.reduce((a, b) => (decidesBefore(b, a, "worst") ? b : a), statuses[0] ?? "");
          if (!keeps(status)) continue;
          if (items.length > 0 && items.every((text) => written.has(keyOf(text)))) continue;
          for (const text of items) written.add(keyOf(text));
          // A blank line stays blank.
          expected.push(items.length > 0 ? `${items.join("; ")},${status}` : "");
        }
        const list = listOf(table.map((items) => items.join("; ")));
        const filter = { dedupe, ...(dropped !== undefined && { keeps }) };
        const { output, report } = await runTable(list, validator, { isService, filter });
        expect(output).toBe(["email,status", ...expected, ""].join("\n"));
        expect(report.written).toBe(expected.length);
      },
    ),
    { numRuns: times(300) },
  );
});

test.each(["item", "canonical"] as const)(
  "--dedupe by %s keeps all rows without an item, with or without a status of an earlier run",
  async (dedupe) => {
    const kept = [",ok,1", "n/a,fake,2", ",,3", "n/a,,4", ",ok,5", "ann@larch-and-oak.com,ok,6", ",alias,8"];
    const table = ["email,status,id", ...kept.toSpliced(6, 0, "ann@larch-and-oak.com,ok,7"), ""];
    const { output, report } = await runTable(table.join("\n"), validator, { isUpdate: true, filter: { dedupe } });
    expect(output).toBe(["email,status,id", ...kept, ""].join("\n"));
    expect(report).toMatchObject({ rows: 8, written: 7 });
  },
);
