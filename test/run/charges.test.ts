/** Covers the charges of runs over bytes: how many units are taken from a real quota file, when, and for which rows. */
import { join } from "node:path";
import { beforeEach, describe, expect, test } from "vitest";
import { usualCells } from "../../src/core/run/items/cells.js";
import type { ObservedRows } from "../../src/core/run/run-options.js";
import { countsOf, type RunSession } from "../../src/core/run/session.js";
import { offlineValidator } from "../../src/core/validator/offline.js";
import { classifier } from "../support/classifier.js";
import { TestQuota } from "../support/quota.js";
import { listOf, runTable } from "../support/run-table.js";
import { temporaryFolder } from "../support/temporary-folder.js";

let quotaFile: TestQuota;
/** The units that were asked for, charge by charge. */
let asked: number[];
beforeEach(async () => {
  quotaFile = await TestQuota.open(join(temporaryFolder(), "quota.db"), Date.now);
  asked = [];
  return () => quotaFile.close();
});
const charge = (units: number) => {
  asked.push(units);
  return quotaFile.charge(units);
};
const validator = offlineValidator({ classifier, source: {} }, { charge });
const { Memory } = WebAssembly;
const address = (i: number) => `user${i}@larch-and-oak.com`;
const addresses = (count: number, from = 0) => Array.from({ length: count }, (_, i) => address(from + i));
const statusesOf = (rows: readonly string[]) => rows.map((row) => row.slice(row.lastIndexOf(",") + 1));

describe("units", () => {
  test("pay once for an item, however often it occurs", async () => {
    const { report, rows } = await runTable(listOf(["a@b.net", "A@B.net", "c@b.net", "", "a@b.net"]), validator);
    expect(asked).toEqual([2]);
    expect(rows).toHaveLength(5);
    expect(report).toMatchObject({ charged: 2, distinct: 2, cached: 0, prechecked: 0, emptyRows: 1 });
    expect(report.quota).toMatchObject({ left: null, used: 2 });
  });

  test("stay in the quota if there is no new item", async () => {
    const session: RunSession = { isSeveral: true };
    await runTable(listOf(addresses(3)), validator, { session });
    const { report } = await runTable(listOf(addresses(3)), validator, { session });
    expect(asked).toEqual([3]);
    expect(report).toMatchObject({ charged: 0, distinct: 0, rows: 3 });
    const third = await runTable(listOf(addresses(4)), validator, { session });
    expect(asked).toEqual([3, 1]);
    expect(third.report).toMatchObject({ charged: 1, distinct: 1, rows: 4 });
    expect(countsOf(session)).toMatchObject({ charged: 4, cached: 0 });
    expect((await runTable(listOf([]), validator)).report.quota).toBeUndefined();
  });

  test("pay once for items in several files, whichever allocation of kernel memory fails", async () => {
    const users = [
      ...addresses(300),
      ...addresses(300).map((item) => `Ann <${item}>`),
      ...addresses(300, 300).map((item) => item.replace("@", "@bücher.")),
    ];
    for (let failing = 1; failing <= 6; failing++) {
      const session: RunSession = { isSeveral: true };
      let made = 0;
      // The system runs out of addresses when it likes.
      WebAssembly.Memory = class extends Memory {
        constructor(descriptor: WebAssembly.MemoryDescriptor) {
          super(descriptor);
          if (++made === failing) throw new RangeError("WebAssembly.Memory(): could not allocate memory");
        }
      };
      try {
        for (let file = 0; file < 4; file++) {
          const { report } = await runTable(listOf(users), validator, { session });
          expect(report, `memory ${failing}, file ${file}`).toMatchObject(
            file === 0 ? { charged: 600, distinct: 600 } : { charged: 0, distinct: 0 },
          );
        }
      } finally {
        WebAssembly.Memory = Memory;
      }
    }
  });

  test("leave the quota in steps of at least 65,536 items", async () => {
    // While a charge takes time, the next one grows: so none does here.
    const quota = { left: null, renewsAt: null } as never;
    const charge = async (granted: number) => {
      asked.push(granted);
      return { granted, quota };
    };
    await runTable(listOf(addresses(200_000)), offlineValidator({ classifier, source: {} }, { charge }));
    expect(asked.reduce((a, b) => a + b)).toBe(200_000);
    // A block has some 22,000 of these items.
    expect(asked.length).toBeGreaterThanOrEqual(3);
    for (const units of asked) expect(units).toBeLessThan(90_000);
    for (const units of asked.slice(0, -1)) expect(units).toBeGreaterThanOrEqual(65_536);
  });

  test("pay for the rows read so far when the input pauses", async () => {
    const units = () => asked.reduce((a, b) => a + b, 0);
    async function* slowly() {
      // The start of a table is read without regard to pauses.
      yield Buffer.from(listOf(addresses(10_000)));
      for (const i of [0, 1]) {
        yield Buffer.from(`${address(10_000 + i)}\n`);
        await expect.poll(units).toBe(10_001 + i);
      }
    }
    await runTable(slowly(), validator);
    expect(units()).toBe(10_002);
  });

  test("leave the quota at the latest when 65,536 rows wait", async () => {
    const progress: number[] = [];
    await runTable(listOf(Array(200_000).fill("a@b.net")), validator, {
      onProgress: ({ rows }) => void progress.push(rows),
    });
    expect(Math.max(...progress.map((rows, i) => rows - (progress[i - 1] ?? 0)))).toBeLessThan(80_000);
    expect(progress.length).toBeGreaterThanOrEqual(4);
    expect(progress.at(-1)).toBe(200_000);
    expect(asked).toEqual([1]);
  });

  test("leave the quota at the latest when eight blocks wait", async () => {
    const progress: number[] = [];
    const wide = `a@b.net,${"x".repeat(30_000)}`;
    await runTable(`email,note\n${`${wide}\n`.repeat(400)}`, validator, {
      onProgress: ({ rows }) => void progress.push(rows),
    });
    const steps = progress.map((rows, i) => rows - (progress[i - 1] ?? 0));
    // A block of 512 KiB has 18 of these rows.
    expect(Math.max(...steps)).toBeLessThanOrEqual(8 * 19);
    expect(progress.at(-1)).toBe(400);
  });
});

describe("when the quota ends", () => {
  test("later items are not checked, and known items keep their status", async () => {
    await quotaFile.configure({ limit: 3 });
    const values = ["a", "b", "a", "c", "d", "b", "e", "d", "c", "", "e"];
    const { rows, report } = await runTable(listOf(values.map((name) => name && `${name}@b.net`)), validator);
    const left = "quota_exceeded";
    expect(statusesOf(rows)).toEqual(["ok", "ok", "ok", "ok", left, "ok", left, left, "ok", "", left]);
    expect(report).toMatchObject({ charged: 3, distinct: 5, quota: { left: 0 } });
    expect(Object.fromEntries(report.statuses)).toEqual({ ok: 6, quota_exceeded: 4 });
    expect((await quotaFile.read()).used).toBe(3);
  });

  test("with the last item, every item is checked", async () => {
    await quotaFile.configure({ limit: 3 });
    const session: RunSession = { isSeveral: true };
    const { rows } = await runTable(listOf(addresses(3)), validator, { session });
    expect(statusesOf(rows)).toEqual(["ok", "ok", "ok"]);
    const next = await runTable(listOf(addresses(3, 1)), validator, { session });
    expect(statusesOf(next.rows)).toEqual(["ok", "ok", "quota_exceeded"]);
    expect(next.report).toMatchObject({ charged: 0, distinct: 1 });
    expect(asked).toEqual([3, 1]);
  });

  test("no further units are reserved", async () => {
    await quotaFile.configure({ limit: 10 });
    const session: RunSession = { isSeveral: true };
    const { rows, report } = await runTable(listOf(addresses(60_000)), validator, { session });
    const granted = statusesOf(rows).filter((status) => status === "ok").length;
    expect([granted, rows.length, report.charged]).toEqual([10, 60_000, 10]);
    expect(asked).toHaveLength(1 + Number(asked[0]! < 10));
    // A raised limit does not count for a run that has said that the quota is used up.
    await quotaFile.configure({ limit: null });
    const next = await runTable(listOf(addresses(2, 60_000)), validator, { session });
    expect(statusesOf(next.rows)).toEqual(["quota_exceeded", "quota_exceeded"]);
  });

  test("during the second of several charges, the items of the first keep their status", async () => {
    await quotaFile.configure({ limit: 25_000 });
    const { rows } = await runTable(listOf([...addresses(30_000), ...addresses(30_000)]), validator);
    const expected = Array.from({ length: 60_000 }, (_, i) => (i % 30_000 < 25_000 ? "ok" : "quota_exceeded"));
    expect(statusesOf(rows)).toEqual(expected);
  });

  test("a value is not checked if one of its items was not checked", async () => {
    await quotaFile.configure({ limit: 3 });
    const lists = ['"b@b.net; x@mailinator.com"', '"a@b.net; c@b.net"', '"b@b.net, a@b.net"'];
    const { rows, report } = await runTable(listOf(["a@b.net", ...lists, "c@b.net"]), validator);
    expect(statusesOf(rows)).toEqual(["ok", "disposable", "quota_exceeded", "ok", "quota_exceeded"]);
    expect(report).toMatchObject({ charged: 3, distinct: 4 });
  });

  test("items that were not checked add to no count of reasons or domains", async () => {
    await quotaFile.configure({ limit: 2 });
    const left = ["c@mailinator.com", "d@guerrillamail.com", "e+y@b.net"];
    const list = listOf(["a@mailinator.com", "b+x@b.net", ...left, "a@mailinator.com"]);
    const { rows, report } = await runTable(list, validator, { columns: { withReasons: true } });
    expect(rows.slice(2, 5)).toEqual(left.map((item) => `${item},quota_exceeded,,`));
    expect(Object.fromEntries(report.reasons)).toEqual({ "disposable-domain": 2, "sub-address": 1 });
    expect(report.topDomains).toEqual([{ domain: "mailinator.com", items: 2 }]);
  });

  test("duplicate rows are still left out, including those with several items", async () => {
    await quotaFile.configure({ limit: 2 });
    const text = listOf(["a@b.net", '"a@b.net; b@b.net"', "b@b.net", "c@b.net", "c@b.net", '"b@b.net; d@b.net"']);
    const { rows } = await runTable(text, validator, { filter: { dedupe: "item" } });
    expect(rows).toEqual([
      "a@b.net,ok",
      '"a@b.net; b@b.net",ok',
      "c@b.net,quota_exceeded",
      '"b@b.net; d@b.net",quota_exceeded',
    ]);
  });
});

test.each([false, true])(
  "an address may be listed as an empty value, and a bar before an address is ignored, with a service: %s",
  async (isService) => {
    const cells = { ...usualCells, emptyValues: ["ann@b.net"], isPlainList: true };
    const list = ["ann@b.net", "eve@b.net", "|eve@b.net", "ANN@b.net"];
    const { rows, report } = await runTable(listOf(list), validator, { cells, isService });
    expect(statusesOf(rows)).toEqual(["", "ok", "ok", ""]);
    expect(report).toMatchObject({ charged: 1, distinct: 1, emptied: 2, emptyRows: 2 });
  },
);

describe("rows", () => {
  const text = "email,name\na@b.net,Ann\nb@mailinator.com,Bob\na@b.net,Eve\nc@b.net,Cid\n";

  test.each([
    [null, ["ok", "disposable", "ok", "ok"]],
    [2, ["ok", "disposable", "ok", "quota_exceeded"]],
  ])("reach observers with their statuses, with a limit of %s", async (limit, expected) => {
    await quotaFile.configure({ limit });
    const seen: string[] = [];
    const observe = ({ codes, statuses, locate, field }: ObservedRows) => {
      for (const [row, code] of codes.entries()) {
        const { line, value } = locate(row);
        seen.push([line, value, field(row, 1), statuses[code]].join(" "));
      }
    };
    await runTable(text, validator, { observers: [{ observe }] });
    expect(seen).toEqual([
      `2 a@b.net Ann ${expected[0]}`,
      `3 b@mailinator.com Bob ${expected[1]}`,
      `4 a@b.net Eve ${expected[2]}`,
      `5 c@b.net Cid ${expected[3]}`,
    ]);
  });

  test("keep the right line numbers in all blocks, and so do bad rows", async () => {
    const rowAt = (i: number) => (i % 7 === 0 ? `${address(i)},"a\nb"\n` : `${address(i)},x\n`);
    const rows = Array.from({ length: 60_000 }, (_, i) => (i % 19_999 === 19_998 ? "a,b,c\n" : rowAt(i)));
    const expected: number[] = [];
    const bad: number[] = [];
    let line = 2;
    for (const row of rows) {
      (row === "a,b,c\n" ? bad : expected).push(line);
      line += row.split("\n").length - 1;
    }
    const found: number[] = [];
    const foundBad: number[] = [];
    const observe = ({ codes, locate }: ObservedRows) => {
      for (const row of codes.keys()) found.push(locate(row).line!);
    };
    await runTable(`email,note\n${rows.join("")}`, validator, {
      table: { badRows: "skip", onBadRow: (fault) => void foundBad.push(fault.line) },
      observers: [{ observe }],
    });
    expect(foundBad).toEqual(bad);
    expect(found).toEqual(expected);
  });

  test("that are blank are bad in every block if short rows are errors", async () => {
    const rows = Array.from({ length: 40_000 }, (_, i) => (i % 9000 === 8999 ? "\n" : `${address(i)},x\n`));
    const bad: number[] = [];
    const { report } = await runTable(`email,note\n${rows.join("")}`, validator, {
      table: { badRows: "skip", ragged: "error", onBadRow: (fault) => void bad.push(fault.line) },
    });
    expect(bad).toEqual([9001, 18_001, 27_001, 36_001]);
    expect(report).toMatchObject({ rows: 39_996, emptyRows: 0 });
  });

  test("go to the file for their status", async () => {
    await quotaFile.configure({ limit: 2 });
    const written = new Map<string, string>();
    const sinkOf = (name: string) => ({
      write: async (bytes: Uint8Array) => {
        written.set(name, (written.get(name) ?? "") + Buffer.from(bytes).toString());
      },
      commit: async () => {},
      discard: async () => {},
    });
    const sink = Object.assign(sinkOf("all"), {
      nameOf: (status: string) => status,
      of: async (name: string) => sinkOf(name),
    });
    await runTable(text, validator, { sink, omitsHeader: true });
    expect(Object.fromEntries(written)).toEqual({
      ok: "a@b.net,Ann,ok\na@b.net,Eve,ok\n",
      disposable: "b@mailinator.com,Bob,disposable\n",
      quota_exceeded: "c@b.net,Cid,quota_exceeded\n",
    });
  });

  test("with several items count only reasons of checked items", async () => {
    await quotaFile.configure({ limit: 3 });
    const lists = ['"a+x@b.net; b@b.net"', '"c@mailinator.com; a+x@b.net"', '"d+x@b.net; b@b.net"', "b@b.net"];
    const { report } = await runTable(listOf(lists), validator, { columns: { withReasons: true } });
    expect(Object.fromEntries(report.reasons)).toEqual({ "sub-address": 1, "disposable-domain": 1 });
    expect(Object.fromEntries(report.statuses)).toEqual({ alias: 1, disposable: 1, quota_exceeded: 1, ok: 1 });
    expect(report.topDomains).toEqual([{ domain: "mailinator.com", items: 1 }]);
  });
});

test("an error of the quota ends the run", async () => {
  const charge = async () => Promise.reject(new Error("the disk is full"));
  const failing = offlineValidator({ classifier, source: {} }, { charge });
  await expect(runTable(listOf(addresses(3)), failing)).rejects.toThrow("the disk is full");
});
