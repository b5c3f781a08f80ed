/** Covers input that pauses where nothing has to be guessed: its rows are written at once, and are those of the same bytes in a file. */
import { setTimeout as sleep } from "node:timers/promises";
import fc from "fast-check";
import { expect, test } from "vitest";
import type { TableOptions } from "../../src/core/table/table.js";
import { offlineValidator } from "../../src/core/validator/offline.js";
import { classifier } from "../support/classifier.js";
import { runTable } from "../support/run-table.js";
import { times } from "../support/tier.js";

const quota = { left: null, renewsAt: null };
const validator = offlineValidator(
  { classifier, source: {} },
  { charge: async (units) => ({ granted: units, charged: units, quota }) },
);

const value = fc.constantFrom("ann@larch-and-oak.com", "x@mailinator.com", "", "no address", 'a"b', "é@x.de");
const lineEnd = fc.constantFrom("\n", "\n", "\r\n");
const shapes: Record<string, { options: Partial<TableOptions>; line: fc.Arbitrary<string> }> = {
  "a plain list": { options: { header: false, delimiter: null }, line: value },
  "tabs without quotes": {
    options: { header: false, delimiter: "\t", columns: ["2"], dialect: { quote: "" }, badRows: "keep" },
    line: fc.array(value, { minLength: 1, maxLength: 3 }).map((fields) => fields.join("\t")),
  },
  "JSON Lines": {
    options: { columns: ["email"], badRows: "keep" },
    line: fc.oneof(
      value.map((email) => JSON.stringify({ email, more: 1 })),
      fc.constantFrom("{}", "[]", '{"email":', '{"other":{"email":"x"}}'),
    ),
  },
};

test.each(Object.entries(shapes))(
  "%s gives the same rows wherever the input is cut or pauses",
  async (_, { options, line }) => {
    const table = fc
      .array(fc.tuple(line, lineEnd), { minLength: 1, maxLength: 30 })
      .map((lines) => Buffer.from(lines.flat().join("")));
    const cuts = fc.array(fc.record({ at: fc.nat(400), pauses: fc.boolean() }), { maxLength: 4 });
    await fc.assert(
      fc.asyncProperty(table, cuts, async (bytes, places) => {
        async function* pieces() {
          let from = 0;
          for (const { at, pauses } of [...places].sort((a, b) => a.at - b.at)) {
            if (at > from && from < bytes.length) yield bytes.subarray(from, at);
            from = Math.max(from, at);
            if (pauses) await sleep(60);
          }
          if (from < bytes.length) yield bytes.subarray(from);
        }
        const outcome = async (input: Buffer | AsyncIterable<Uint8Array>) => {
          const run = runTable(input, validator, {
            table: { delimiter: undefined, columns: undefined, ...options } as never,
          });
          return run.then(
            ({ output, report }) => ({ output, statuses: [...report.statuses] }),
            (error: Error) => error.message,
          );
        };
        expect(await outcome(pieces())).toEqual(await outcome(bytes));
      }),
      { numRuns: times(25) },
    );
  },
);
