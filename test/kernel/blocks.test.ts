/** Covers how the kernel scans and writes blocks: as the scanner and the chunks in JavaScript do, and nowhere else. */

import fc from "fast-check";
import { expect, test } from "vitest";
import type { Kind } from "../../src/core/classifier/verdict.js";
import { Kernel, kernelModule, newMemory, prepareMemory } from "../../src/core/kernel/kernel.js";
import { askCode, seedWords, sharedEnd } from "../../src/core/kernel/layout.js";
import { BlockClassifier, kernelSettings } from "../../src/core/run/blocks/block-classifier.js";
import { type BlockKernel, createBlockKernel } from "../../src/core/run/blocks/block-kernel.js";
import type { BlockOptions } from "../../src/core/run/blocks/block-options.js";
import { countsOf } from "../../src/core/run/blocks/chunk-verdicts.js";
import { BlockMemory, slotRows } from "../../src/core/run/blocks/threads/block-memory.js";
import { Cells, usualCells } from "../../src/core/run/items/cells.js";
import { itemKey } from "../../src/core/run/items/item.js";
import { nameColumns } from "../../src/core/run/rows/columns.js";
import { hasItem } from "../../src/core/run/status-codes.js";
import { usualMarks } from "../../src/core/table/quotes.js";
import type { TableShape } from "../../src/core/table/records.js";
import { scanAlone } from "../../src/core/table/scan/chunk-assembler.js";
import { ScannedChunk } from "../../src/core/table/scan/scanned-chunk.js";
import { scanRecords } from "../../src/core/table/scan/scanner.js";
import { classifier } from "../support/classifier.js";
import { times } from "../support/tier.js";

const seed = Int32Array.from({ length: seedWords }, (_, i) => Math.imul(i + 7, 0x9e3779b1));

/** Pieces of tables, each likely to meet a mark at any of 64 places. */
const piece = fc.oneof(
  fc.constantFrom(",", ",", ";", '"', '""', '",', ',"', "\n", "\r\n", "\r", "\n\n", "#", "#a,b\n"),
  fc.constantFrom(
    ...["a", "é", " ", "  ", ' "', '\\"', "\\\\", "\\", "n/a"],
    ...["ann@larch-and-oak.com", '"x@mailinator.com"', "'o''neil@gmail.com'", "user1@gmail.com"],
  ),
  fc.string({ unit: fc.constantFrom(...'ab,"\n\r#;é'), maxLength: 5 }),
  fc.nat(150).map((length) => "x".repeat(length)),
);
const table = fc.array(piece, { maxLength: 60 }).map((parts) => parts.join(""));

const shapeOf = (dialect: object, others: object = {}) =>
  ({
    dialect: { ...usualMarks, lineEnding: "\n", ...dialect },
    ...{ width: 1, column: 0, otherColumns: [], hasHeader: false, ragged: "pad", badRows: "keep" },
    ...{ name: "list.csv", firstLine: 1 },
    ...others,
  }) as unknown as TableShape;

/** Options of a run of the offline engine. */
const optionsOf = (shape: TableShape, kind: Kind = "email"): BlockOptions => ({
  ...{ isService: false, isFinal: true, kind, shape, keys: undefined },
  // Records keep their bytes.
  target: { format: undefined, keys: [] },
  // What is known of domains depends on the kind, and is kept by their hashes.
  seed: kind === "email" ? seed : seed.map((word) => ~word),
  cells: { kind, ...usualCells },
  columns: nameColumns(undefined, "status"),
});

/** Returns the kernel of the first thread of a run. */
function kernelFor(options: BlockOptions, memory = new BlockMemory(1, 1)): BlockKernel {
  prepareMemory(memory.memory, kernelSettings(options));
  return createBlockKernel(kernelModule(), memory, 0, classifier, options.kind);
}

test("the kernel finds the same records as the scanner, or refuses the block", () => {
  const memory = newMemory(sharedEnd + 65_536 + 7 * 4 * 10_000);
  const bytes = Buffer.from(memory.buffer);
  const at = sharedEnd + 65_536;
  let found = 0;
  const options = fc.record({
    text: table,
    end: fc.constantFrom("\n", "\r\n", "\r", ""),
    delimiter: fc.constantFrom(0x2c, 0x3b, 0x20, undefined),
    quote: fc.constantFrom(0x22, 0x27, Number.NaN, undefined),
    escape: fc.constantFrom(undefined, 0x5c),
    skipsSpaces: fc.boolean(),
    comment: fc.constantFrom(undefined, undefined, 0x23),
    column: fc.nat(3),
    place: fc.nat(70),
    around: fc.constantFrom('"', "\n", ",", "\r", "x"),
  });
  fc.assert(
    fc.property(options, ({ text, end, place, around, ...shape }) => {
      const block = Buffer.from(text + end);
      prepareMemory(memory, { shape, width: 1, padding: 0x2c, seed, columns: 1, tails: [] });
      const kernel = new Kernel(kernelModule(), memory, 0, classifier, "email");
      // What lies around a block must not matter.
      bytes.fill(around, sharedEnd, sharedEnd + block.length + 300);
      block.copy(bytes, sharedEnd + place + 64);
      const scanned = kernel.scan(sharedEnd + place + 64, block.length, at, 10_000, shape.column);
      const expected = scanRecords(block, shape, true);
      const last = expected.at.slice(-7);
      const isWhole = expected.consumed === block.length && (expected.count === 0 || last[1] !== last[2]);
      expect(scanned === undefined).toBe(!isWhole);
      if (scanned === undefined) return;
      found++;
      const { mostFields, longest, lines, count, strays } = expected;
      const fewestFields = Math.min(expected.fewestFields, 0x7fff_ffff);
      expect(scanned).toMatchObject({ mostFields, fewestFields, longest, lines, count, strays });
      expect(Buffer.from(scanned.at)).toEqual(Buffer.from(expected.at));
    }),
    { numRuns: times(1500) },
  );
  expect(found).toBeGreaterThan(times(250, 6));
});

test("the kernel refuses a block with more records than it has room for", () => {
  const memory = newMemory(sharedEnd + 65_536);
  const shape = { delimiter: 0x2c, column: 0 };
  prepareMemory(memory, { shape, width: 1, padding: 0x2c, seed, columns: 1, tails: [] });
  const kernel = new Kernel(kernelModule(), memory, 0, classifier, "email");
  Buffer.from(memory.buffer).fill("\n", sharedEnd, sharedEnd + 100);
  expect(kernel.scan(sharedEnd, 100, sharedEnd + 1024, 99, 0)).toBeUndefined();
  expect(kernel.scan(sharedEnd, 100, sharedEnd + 1024, 100, 0)?.count).toBe(100);
});

const shards = [
  { index: 1, count: 2, list: "list.csv" },
  { index: 2, count: 2, list: "list.csv" },
  { index: 3, count: 5, list: "list.csv" },
];

test("judging a block gives the same result as judging its chunks, and touches no other slot or thread", () => {
  const memory = new BlockMemory(3, 2);
  const module = kernelModule();
  const all = Buffer.from(memory.memory.buffer);
  const slot = memory.slot(0);
  // The third thread and the second slot stay unused.
  const unused = [
    memory.recordsOf(2),
    memory.recordsOf(3),
    memory.slot(1).hashes.byteOffset,
    memory.slotOf(0).hashes.byteOffset,
  ];
  for (const i of [0, 2]) all.fill(0xa5, unused[i], unused[i + 1]);
  let answered = 0;
  const row = fc.array(piece, { maxLength: 6 }).map((parts) => parts.join(""));
  const options = fc.record({
    rows: fc.array(row, { maxLength: 30 }),
    lineEnding: fc.constantFrom("\n", "\r\n", "\r"),
    delimiter: fc.constantFrom(",", ";", " ", null),
    marks: fc.constantFrom(
      ...[usualMarks, usualMarks, { ...usualMarks, skipsSpaces: true }, { ...usualMarks, escape: "\\" }],
      ...[
        { ...usualMarks, quote: "'", escape: "'" },
        { ...usualMarks, quote: "", escape: "" },
      ],
    ),
    comment: fc.constantFrom(null, null, "#"),
    column: fc.nat(2),
    otherColumns: fc.constantFrom([], [], [3], [1, 4]),
    width: fc.integer({ min: 1, max: 5 }),
    ragged: fc.constantFrom("pad" as const, "error" as const),
    kind: fc.constantFrom("email" as const, "domain" as const),
    withReasons: fc.boolean(),
    keys: fc.constantFrom("items", "mailboxes", undefined),
    shard: fc.constantFrom(undefined, ...shards),
  });
  fc.assert(
    fc.property(options, ({ rows, lineEnding, delimiter, comment, marks, kind, ...rest }) => {
      const { column, otherColumns, width, ragged, keys } = rest;
      const dialect = { delimiter, ...marks, comment, lineEnding };
      const shape = shapeOf(dialect, { width, column, otherColumns, hasHeader: true, ragged });
      const blockOptions: BlockOptions = {
        ...optionsOf(shape, kind),
        keys,
        facts: { mailboxes: false, columns: [width - 1] },
        // The items of a row may be in different shards: such a table goes in batches.
        shard: otherColumns.length > 0 ? undefined : rest.shard,
        columns: nameColumns(undefined, "status", { withReasons: rest.withReasons, others: otherColumns.map(String) }),
      };
      prepareMemory(memory.memory, kernelSettings(blockOptions));
      const classifiers = [0, 1].map(
        (thread) =>
          new BlockClassifier(blockOptions, classifier, createBlockKernel(module, memory, thread, classifier, kind)),
      );
      const block = Buffer.from(rows.map((row) => row + lineEnding).join(""));
      block.copy(slot.block);
      const answer = classifiers[0]!.classifySlot(slot, block.length);
      if (answer === undefined) return;
      answered++;
      const { chunk, lines } = scanAlone(shape, block)!;
      const verdicts = classifiers[1]!.classify(chunk);
      const written = classifiers[1]!.renderer.render(chunk, verdicts);
      const { codes, hashes, mailboxes, facts } = verdicts;
      const numbers = countsOf(verdicts);
      expect(slot.domains.slice(0, facts!.domains.length)).toEqual(facts!.domains);
      expect(slot.fields[0]!.slice(0, facts!.fields[0]!.length)).toEqual(facts!.fields[0]);
      // Without the kernel, the verdicts are the same; the hashes need not be.
      expect(new BlockClassifier(blockOptions, classifier).classify(chunk)).toMatchObject({ codes, ...numbers });
      expect(answer).toEqual({
        lines,
        rows: chunk.count,
        items: verdicts.items?.fields.length ?? 0,
        outputLength: written.bytes.length,
        ...numbers,
        kept: 0,
      });
      expect(Array.from(slot.codes.subarray(0, codes.length))).toEqual(Array.from(codes));
      const output = slot.output.subarray(0, answer.outputLength);
      expect(output.toString("latin1")).toBe(written.bytes.toString("latin1"));
      expect(Array.from(slot.ends.subarray(0, answer.rows))).toEqual(Array.from(written.ends));
      for (const [row, code] of codes.entries()) {
        if (!hasItem(code)) continue;
        expect(slot.hashes.slice(2 * row, 2 * row + 2)).toEqual(hashes.slice(2 * row, 2 * row + 2));
        if (!mailboxes) continue;
        expect(slot.mailboxes.slice(2 * row, 2 * row + 2)).toEqual(mailboxes.slice(2 * row, 2 * row + 2));
      }
    }),
    { numRuns: times(400) },
  );
  expect(answered).toBeGreaterThan(times(50, 1));
  for (const i of [0, 2]) expect(all.subarray(unused[i], unused[i + 1]).every((byte) => byte === 0xa5)).toBe(true);
});

test("the kernel refuses a block whose padded rows do not fit into the output", () => {
  const memory = new BlockMemory(1, 1);
  const blockOptions = optionsOf(shapeOf({ delimiter: "," }, { width: 100, hasHeader: true }));
  const slot = memory.slot(0);
  const blocks = new BlockClassifier(blockOptions, classifier, kernelFor(blockOptions, memory));
  const row = "a@b.net\n";
  const rows = Math.floor(slot.output.length / 100);
  slot.block.write(row.repeat(rows + 2000));
  expect(rows + 2000).toBeLessThan(slotRows);
  expect(blocks.classifySlot(slot, row.length * (rows + 2000))).toBeUndefined();
  expect(blocks.classifySlot(slot, row.length * 1000)?.outputLength).toBe(1000 * (row.length + 99 + 3));
});

test("judges a chunk with more rows than a slot has room for, and touches no other thread", () => {
  const memory = new BlockMemory(2, 1);
  const all = Buffer.from(memory.memory.buffer);
  const shape = shapeOf({ delimiter: "," });
  const blockOptions = optionsOf(shape);
  const kernel = kernelFor(blockOptions, memory);
  const [from, to] = [memory.recordsOf(1), memory.scratchOf(1)];
  all.fill(0xa5, from, to);
  const values = Array.from({ length: 2 * slotRows + 10 }, (_, i) =>
    i % 3 === 0 ? "" : i % 5 === 0 ? "a@b.net" : "a",
  );
  const bytes = Buffer.from(values.map((value) => `${value}\n`).join(""));
  const { at } = scanRecords(bytes, { delimiter: 0x2c, column: 0 }, true);
  const chunk = new ScannedChunk(shape, bytes, at);
  const { codes, hashes } = new BlockClassifier(blockOptions, classifier, kernel).classify(chunk);
  const alone = new BlockClassifier(blockOptions, classifier).classify(chunk);
  expect(Buffer.from(codes).equals(alone.codes)).toBe(true);
  const [first, last] = [values.indexOf("a@b.net"), values.lastIndexOf("a@b.net")];
  expect(hashes.slice(2 * last, 2 * last + 2)).toEqual(hashes.slice(2 * first, 2 * first + 2));
  expect(all.subarray(from, to).every((byte) => byte === 0xa5)).toBe(true);
});

test.each<[string, string, object | undefined, boolean]>([
  ["in quotes of the table", '"', undefined, true],
  ["in JSON strings", "", {}, true],
  ["in quotes that are text", "", undefined, false],
])("the kernel judges plain items %s by itself: %j", (_, quote, json, isJudged) => {
  const shape = shapeOf({ delimiter: null, quote, escape: quote }, { json });
  const kernel = kernelFor(optionsOf(shape));
  const bytes = Buffer.from('"ann@larch-and-oak.com"\n"x@mailinator.com"\n"a\\u0040b.net"\n');
  const { at } = scanRecords(bytes, { delimiter: Number.NaN, quote: Number.NaN, column: 0 }, true);
  const codes = new Uint8Array(3);
  kernel.judge(new ScannedChunk(shape, bytes, at), { codes }, false);
  expect([...codes].map((code) => code === askCode)).toEqual([!isJudged, !isJudged, true]);
});

test.each(["email", "domain"] as const)(
  "the kernel finds the same %s as JavaScript in names, addresses and URLs",
  (kind) => {
    const shape = shapeOf({ delimiter: null });
    const blockOptions = optionsOf(shape, kind);
    const kernel = kernelFor(blockOptions);
    const parts = [
      ...["Ann Lee ", "A.-B. ", "- ", "-- ", "<", ">", "<<", " ", "x", "é ", "", "", ""],
      ...["http://", "https://", "HTTPS://", "http:/", "httpx://", "//", "mailto:", "smtp:"],
      ...["ann", "ann+x", "a/b", "'ann", "{a", "a|b", "*", "*.", ".", "n/a"],
      ...["@", "@", "@", "oak.net", "www.Mailinator.com", "x.1", "gmail.com", "localhost", "a..b", "xn--bcher-kva.de"],
      ...["/", "/shop?id=1&b=%20", "?x", "#top", ":80", ":80/", "/a@b", "/a b", "/;", ",bob@oak.net", ";"],
    ];
    const value = fc.oneof(
      fc.array(fc.constantFrom(...parts), { maxLength: 7 }).map((found) => found.join("")),
      fc
        .tuple(...[0, 13, 21, 31, 41].map((from) => fc.constantFrom("", ...parts.slice(from, from + 12))))
        .map((found) => found.join("")),
    );
    const cells = new Cells({ kind, ...usualCells });
    fc.assert(
      fc.property(fc.array(value, { minLength: 1, maxLength: 20 }), (values) => {
        const bytes = Buffer.from(values.map((text) => `${text}\n`).join(""));
        const { chunk } = scanAlone(shape, bytes)!;
        const over = new BlockClassifier(blockOptions, classifier, kernel).classify(chunk);
        const plain = new BlockClassifier(blockOptions, classifier).classify(chunk);
        expect(over.codes).toEqual(plain.codes);
        for (const [row, code] of over.codes.entries()) {
          const found = cells.itemsIn(chunk.value(row));
          if (!hasItem(code) || found.length !== 1 || over.items) continue;
          const { low, high } = kernel.hash(itemKey(found[0]!));
          expect(over.hashes.slice(2 * row, 2 * row + 2), values[row]).toEqual(Int32Array.of(low, high));
        }
      }),
      { numRuns: times(3000) },
    );
  },
);
