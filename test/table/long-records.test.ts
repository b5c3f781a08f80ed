/** Covers records over 1 MiB: wherever their bytes are cut, they are rows, or one bad row if a quote has swallowed rows. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { itemTest } from "../../src/core/run/items/cells.js";
import type { TableShape } from "../../src/core/table/records.js";
import { ChunkAssembler } from "../../src/core/table/scan/chunk-assembler.js";
import { valuesOf } from "../support/tables.js";
import { times } from "../support/tier.js";

const length = 1_200_000;
const shape: TableShape = {
  name: "l.csv",
  dialect: {
    delimiter: ",",
    quote: '"',
    escape: '"',
    comment: null,
    skipsSpaces: false,
    byteOrderMark: false,
    lineEnding: "\n",
  },
  width: 3,
  column: 1,
  otherColumns: [],
  hasHeader: true,
  firstLine: 1,
  ragged: "pad",
  badRows: "skip",
  trustsQuotes: false,
  isWidthSure: true,
  itemColumns: [1],
};
const items = itemTest({ kind: "email", emptyValues: [] });

const row = "1,ann@larch-and-oak.com,x\n";
const mail = '<p>Hello, ""Ann"", write to bob@larch-and-oak.com</p>\r\n';
const repeated = (text: string) => text.repeat(Math.ceil(length / text.length));
const parts = {
  row,
  page: `2,bob@larch-and-oak.com,"${repeated(mail)}"\n`,
  picture: `"${repeated(`${"x".repeat(76)}\n`)}",cat@larch-and-oak.com,y\n`,
  "plain field": `3,dan@larch-and-oak.com,${repeated("y")}\n`,
  "rows in quotes": `4,"eve@larch-and-oak.com,z\n${repeated(row)}5,",e\n`,
};

function assembled(pieces: readonly Buffer[], isBeforePause: (piece: number) => boolean) {
  const bad: string[] = [];
  const assembler = new ChunkAssembler(shape, items, ({ message }) => bad.push(message));
  const chunks = [...pieces, undefined].map((piece, nth) => assembler.assemble(piece, 0, isBeforePause(nth)));
  return { values: chunks.flatMap(valuesOf), bad, line: assembler.line };
}

test("records over 1 MiB are rows, unless a quote has swallowed rows: then it is one bad row", () => {
  const swallowed = repeated(row).length / row.length;
  for (const [name, text] of Object.entries(parts)) {
    const { values, bad } = assembled([Buffer.from(`id,email,note\n${row}${text}${row}`)], () => false);
    const isBad = name === "rows in quotes";
    expect(values.length, name).toBe(isBad ? 3 + swallowed : 4);
    const reason = "l.csv:3: a quote opens in column 2 and over 1 MiB of lines follow inside it";
    expect(bad[0]?.includes(reason) ?? false, name).toBe(isBad);
  }
});

test("records over 1 MiB do not depend on where bytes are cut, or pause", () => {
  fc.assert(
    fc.property(
      fc.array(fc.constantFrom(...Object.values(parts)), { minLength: 1, maxLength: 4 }),
      fc.boolean(),
      fc.integer({ min: 90_000, max: 2_000_000 }),
      fc.func(fc.boolean()),
      (texts, isOpen, size, isBeforePause) => {
        const bytes = Buffer.from(`id,email,note\n${texts.join("")}${isOpen ? '6,"fay@larch-and-oak.com' : ""}`);
        const pieces = Array.from({ length: Math.ceil(bytes.length / size) }, (_, nth) =>
          bytes.subarray(nth * size, (nth + 1) * size),
        );
        expect(assembled(pieces, isBeforePause)).toEqual(assembled([bytes], () => false));
      },
    ),
    { numRuns: times(8) },
  );
});

test("records over 64 MiB are bad, whatever their bytes are", () => {
  const long = Buffer.alloc(67_108_865, `\u0001${"y".repeat(1_048_575)}`);
  const { values, bad } = assembled([Buffer.from(`id,email,note\n${row}`), long, Buffer.from(`\n${row}`)], () => false);
  expect(values).toHaveLength(3);
  expect(bad).toEqual(["l.csv:3: the record that starts here is over 64 MiB; a quote in it may never be closed"]);
});
