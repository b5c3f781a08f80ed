/** Covers which batches are sent, in which order and how many at a time, with a real cache and engines that count. */
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, onTestFinished, test } from "vitest";
import { notChecked, type Validator, type Verdict } from "../../src/core/validator/validator.js";
import { VerdictCache } from "../../src/state/cache/verdict-cache.js";
import { itemHashes } from "../support/item-hashes.js";
import { listOf, runTable } from "../support/run-table.js";
import { temporaryFolder } from "../support/temporary-folder.js";

/** An engine with some units that gives the status `ok`, and the batches that it was sent. */
function countingEngine({
  units = Number.POSITIVE_INFINITY,
  onBatch = async (_names: readonly string[]): Promise<void> => {},
  ...properties
}: Partial<Validator> & { units?: number; onBatch?: (names: readonly string[]) => Promise<void> } = {}) {
  const batches: (readonly string[])[] = [];
  let left = units;
  const engine: Validator = {
    name: "counting",
    batchSize: 3,
    patience: 60_000,
    async validate(_kind, items, _signal, listener) {
      const verdicts: Verdict[] = items.map(() => notChecked);
      let [open, charged, exhausted] = [items.map((_, i) => i), 0, false];
      while (open.length > 0 && !exhausted) {
        const { now, later } = (await listener?.onSubmit(open)) ?? { now: open, later: [] };
        open = [...later];
        if (now.length === 0) continue;
        const names = now.map((i) => items[i]!.slice(0, items[i]!.indexOf("@")));
        batches.push(names);
        const granted = now.slice(0, left);
        left -= granted.length;
        charged += granted.length;
        exhausted = granted.length < now.length;
        await onBatch(names);
        for (const i of granted) verdicts[i] = ok;
        const answers = granted.map(() => ok);
        await listener?.onAnswered(granted, answers);
      }
      return { verdicts, charged, exhausted, quota: { left, renewsAt: null } };
    },
    ...properties,
  };
  return { engine, batches };
}

/** Opens a file of verdicts, and returns a function that opens it for a run. */
async function openCache() {
  // Batches of killed runs come back in the order of their times.
  let before = 0;
  const now = () => {
    before = Math.max(before + 1, Date.now());
    return before;
  };
  const cache = await VerdictCache.open(join(temporaryFolder(), "verdicts.db"), now);
  onTestFinished(() => cache.close());
  return () => cache.scope("email", "https://b.net", "secret", 60_000);
}
const names = ["a", "b", "c", "d", "e", "f", "g", "h"];
const hashesIn = ({ secret }: { secret: Uint8Array }, list: readonly string[]) =>
  itemHashes(secret)(list.map((name) => `${name}@b.net`));
const table = (list: readonly string[]) => listOf(list.map((name) => `${name}@b.net`));
/** The start of a table is read without regard to pauses. An `x` stands for no item. */
const startOfTable = Buffer.from(`email\n${`x${" ".repeat(998)}\n`.repeat(80)}`);

/** Yields a table that pauses between two parts, until something has happened. */
async function* slowTable(first: readonly string[], second: readonly string[], pause: () => unknown) {
  yield startOfTable;
  yield Buffer.from(first.map((name) => `${name}@b.net\n`).join(""));
  await pause();
  yield Buffer.from(second.map((name) => `${name}@b.net\n`).join(""));
}
const statusesOf = (rows: readonly string[]) => rows.map((row) => row.slice(row.indexOf(",") + 1));
/** Batches as words of the names in them. */
const wordsOf = (batches: readonly (readonly string[])[]) => batches.map((batch) => batch.join(""));
const ok = { status: "ok" };
const noQuota = { left: null, renewsAt: null };

describe("batches", () => {
  test("take the engine's batch size, and the last one takes the rest", async () => {
    const { engine, batches } = countingEngine();
    const { rows, report } = await runTable(table([...names, "a", "h"]), engine);
    expect(wordsOf(batches)).toEqual(["abc", "def", "gh"]);
    expect(statusesOf(rows)).toEqual(Array(10).fill("ok"));
    expect(report).toMatchObject({ charged: 8, distinct: 8, rows: 10 });
  });

  test("shrink when the engine's batch size shrinks", async () => {
    let batchSize = 4;
    const { engine, batches } = countingEngine({
      onBatch: async () => {
        batchSize = 1;
      },
    });
    Object.defineProperty(engine, "batchSize", { get: () => batchSize });
    await runTable(table(names), engine);
    expect(wordsOf(batches)).toEqual(["abcd", "e", "f", "g", "h"]);
  });

  test.each([
    [undefined, 1],
    [1, 1],
    [3, 3],
  ])("go out side by side up to the engine's concurrency: %s", async (concurrency, expected) => {
    /** Answers, which the test gives when as many batches as the engine takes wait for theirs. */
    const answers: (() => void)[] = [];
    let running = 0;
    let most = 0;
    const { engine, batches } = countingEngine({
      ...(concurrency !== undefined && { concurrency }),
      onBatch: () => {
        most = Math.max(most, ++running);
        return new Promise((resolve) => answers.push(resolve));
      },
      batchSize: 1,
    });
    const run = runTable(table(names), engine);
    for (let left = names.length; left > 0; left--) {
      await expect.poll(() => answers.length).toBe(Math.min(expected, left));
      running--;
      // The first batch is the last to be answered.
      answers.pop()!();
    }
    const { rows } = await run;
    expect(most).toBe(expected);
    expect(batches.flat()).toEqual(names);
    expect(rows.map((row) => row[0])).toEqual(names);
  });

  test("go out partly filled when the input pauses", async () => {
    const { engine, batches } = countingEngine();
    const pause = () => expect.poll(() => batches.length).toBe(2);
    await runTable(slowTable(["a", "b", "c", "d"], ["e", "f", "g", "h"], pause), engine);
    expect(wordsOf(batches)).toEqual(["abc", "d", "efg", "h"]);
  });

  test("of a file that is read slowly are those of another try", async () => {
    const { engine, batches } = countingEngine();
    const slowly = slowTable(["a", "b", "c", "d"], ["e", "f", "g", "h"], () => sleep(400));
    await runTable(slowly, engine, { answersPauses: false });
    expect(batches.map((batch) => batch.join(""))).toEqual(["abc", "def", "gh"]);
  });
});

describe("no batch is sent", () => {
  test("after the quota has ended", async () => {
    const { engine, batches } = countingEngine({ units: 4 });
    const { rows, report } = await runTable(table([...names, "a", "g"]), engine);
    const left = "quota_exceeded";
    expect(wordsOf(batches)).toEqual(["abc", "def"]);
    expect(statusesOf(rows)).toEqual([...Array(4).fill("ok"), ...Array(4).fill(left), "ok", left]);
    expect(report).toMatchObject({ charged: 4, distinct: 8, quota: { left: 0 } });
  });

  test("after another batch has failed", async () => {
    const { engine, batches } = countingEngine({
      concurrency: 2,
      batchSize: 1,
      onBatch: async ([name]) => {
        if (name === "b") throw new Error("tired");
        // The other batch is in flight until the end.
        await new Promise(() => {});
      },
    });
    await expect(runTable(table(names), engine)).rejects.toThrow("tired");
    expect(batches.flat().toSorted()).toEqual(["a", "b"]);
  });

  test("after the run is aborted", async () => {
    const stopping = new AbortController();
    const { engine, batches } = countingEngine({ onBatch: async () => stopping.abort(new Error("stop")) });
    await expect(runTable(table(names), engine, { signal: stopping.signal })).rejects.toThrow("stop");
    expect(batches).toHaveLength(1);
  });

  test("for items whose verdicts are cached", async () => {
    const open = await openCache();
    const { engine, batches } = countingEngine();
    await runTable(table(names.slice(2, 5)), engine, { cache: await open() });
    const { report, rows } = await runTable(table(names), engine, { cache: await open() });
    expect(wordsOf(batches)).toEqual(["cde", "abf", "gh"]);
    expect(statusesOf(rows)).toEqual(Array(8).fill("ok"));
    expect(report).toMatchObject({ charged: 5, cached: 3, distinct: 8 });
  });

  test("for items that an earlier run checked before its quota ended", async () => {
    const open = await openCache();
    await runTable(table(names), countingEngine({ units: 4 }).engine, { cache: await open() });
    const { engine, batches } = countingEngine();
    const { report } = await runTable(table(names), engine, { cache: await open() });
    expect(batches.flat()).toEqual(["e", "f", "g", "h"]);
    expect(report).toMatchObject({ charged: 4, cached: 4 });
  });
});

describe("the batch of a killed run", () => {
  /** Runs with a cache that has a batch which was begun and not finished. */
  async function runAfterKill(
    begun: readonly string[],
    list: string | ((sent: readonly unknown[]) => AsyncIterable<Uint8Array>),
  ) {
    const open = await openCache();
    const killed = await open();
    await killed.begin(hashesIn(killed, begun));
    const { engine, batches } = countingEngine();
    const opened = typeof list === "string" ? list : list(batches);
    const { rows } = await runTable(opened, engine, { cache: await open() });
    return { batches: wordsOf(batches), rows, left: await (await open()).unfinished() };
  }

  test("goes out again in its old order", async () => {
    const { batches, rows, left } = await runAfterKill(["f", "a", "d"], table(names));
    expect(batches).toEqual(["fad", "bce", "gh"].toSorted((a, b) => batches.indexOf(a) - batches.indexOf(b)));
    expect(statusesOf(rows)).toEqual(Array(8).fill("ok"));
    expect(left).toEqual([]);
  });

  test("goes out again when it is complete, whatever its size", async () => {
    expect((await runAfterKill(["b", "a"], table(names))).batches).toEqual(["ba", "cde", "fgh"]);
    expect((await runAfterKill(["e", "d", "c", "b", "a"], table(names))).batches[0]).toBe("edcba");
  });

  test("goes out again at the end of the list with those of its items that the list has", async () => {
    const { batches } = await runAfterKill(["z", "f", "a"], table(names));
    expect(batches.toSorted()).toEqual(["bcd", "egh", "fa"]);
  });

  test("does not go out again if the list has none of its items", async () => {
    const { batches, left } = await runAfterKill(["x", "y"], table(names));
    expect(batches).toEqual(["abc", "def", "gh"]);
    expect(left).toHaveLength(1);
  });

  test("goes out again whole even if a newer batch of a killed run has one of its items", async () => {
    const open = await openCache();
    const killed = await open();
    await killed.begin(hashesIn(killed, ["a", "b"]));
    await killed.begin(hashesIn(killed, ["b", "c"]));
    const { engine, batches } = countingEngine();
    await runTable(table(names.slice(0, 4)), engine, { cache: await open() });
    expect(wordsOf(batches)).toEqual(["ab", "c", "d"]);
  });

  test("waits through a pause of the input", async () => {
    const list = () => slowTable(["a"], ["c"], () => sleep(400));
    expect((await runAfterKill(["c", "a"], list)).batches).toEqual(["ca"]);
  });

  test("waits through a pause of the input while other batches are sent", async () => {
    const list = (sent: readonly unknown[]) =>
      slowTable(["a", "b"], ["c"], () => expect.poll(() => sent.length).toBe(1));
    expect((await runAfterKill(["c", "a"], list)).batches).toEqual(["b", "ca"]);
  });
});

describe("runs side by side", () => {
  test("pay once for items that they share", async () => {
    const open = await openCache();
    const sent: string[] = [];
    const onBatch = async (batch: readonly string[]) => {
      sent.push(...batch);
      await sleep(20);
    };
    const lists = [names, names.toReversed(), ["d", "x", "a", "y"]];
    const engine = () => countingEngine({ onBatch, concurrency: 2 }).engine;
    const runs = await Promise.all(lists.map(async (list) => runTable(table(list), engine(), { cache: await open() })));
    expect(sent.toSorted()).toEqual([...names, "x", "y"]);
    for (const { rows } of runs) expect(new Set(statusesOf(rows))).toEqual(new Set(["ok"]));
    const total = (count: "charged" | "cached") => runs.reduce((sum, { report }) => sum + report[count], 0);
    expect([total("charged"), total("cached")]).toEqual([10, 10]);
  });

  test("pay once for items that are resubmitted after a wait or in smaller requests", async () => {
    const open = await openCache();
    const paid: string[] = [];
    const validate: Validator["validate"] = async (_kind, items, _signal, listener) => {
      const verdicts: Verdict[] = items.map(() => notChecked);
      let open = items.map((_, i) => i);
      while (open.length > 0) {
        const { now, later } = await listener!.onSubmit(open);
        open = [...now.slice(1), ...later];
        if (now.length === 0) continue;
        await sleep(5);
        paid.push(items[now[0]!]!);
        verdicts[now[0]!] = ok;
        await listener!.onAnswered([now[0]!], [ok]);
        // Nothing is claimed while the engine waits.
        await sleep(20);
      }
      const charged = verdicts.filter((verdict) => verdict !== notChecked).length;
      return { verdicts, charged, exhausted: false, quota: noQuota };
    };
    const engine = () => ({ ...countingEngine({ batchSize: 8 }).engine, validate });
    const lists = [names, names.toReversed()];
    const runs = await Promise.all(lists.map(async (list) => runTable(table(list), engine(), { cache: await open() })));
    expect(paid.toSorted()).toEqual(names.map((name) => `${name}@b.net`));
    for (const { rows } of runs) expect(statusesOf(rows)).toEqual(Array(8).fill("ok"));
    expect(runs.reduce((sum, { report }) => sum + report.charged, 0)).toBe(8);
  });

  test("submit every item when a pause and a full batch wait for the same answer", async () => {
    const answers: (() => void)[] = [];
    const { engine, batches } = countingEngine({ onBatch: () => new Promise((resolve) => answers.push(resolve)) });
    let isRead = false;
    async function* pausing() {
      yield startOfTable;
      for (const part of [["a"], ["b"], ["c", "d", "e", "f", "g"]]) {
        await sleep(400);
        yield Buffer.from(part.map((name) => `${name}@b.net\n`).join(""));
      }
      isRead = true;
    }
    const run = runTable(pausing(), engine);
    let hasEnded = false;
    run.finally(() => {
      hasEnded = true;
    });
    await expect.poll(() => batches.length).toBe(1);
    await expect.poll(() => isRead).toBe(true);
    await sleep(400);
    while (!hasEnded) {
      answers.shift()?.();
      await sleep(5);
    }
    const { rows } = await run;
    expect(statusesOf(rows.slice(80))).toEqual(Array(7).fill("ok"));
    expect(batches.flat().sort()).toEqual([..."abcdefg"]);
  });

  test("use verdicts that other runs have received, even after the quota has ended", async () => {
    const open = await openCache();
    const other = await open();
    const { engine } = countingEngine({
      units: 0,
      batchSize: 2,
      onBatch: async () => {
        const items = hashesIn(other, ["c", "d", "e"]);
        await other.begin(items);
        await other.finish(items, items, ["ok", "ok", "ok"]);
      },
    });
    const { rows, report } = await runTable(table(names.slice(0, 6)), engine, { cache: await open() });
    const left = "quota_exceeded";
    expect(statusesOf(rows)).toEqual([left, left, "ok", "ok", "ok", left]);
    expect(report).toMatchObject({ charged: 0, cached: 3 });
  });

  test("leave no claim on items that they did not submit", async () => {
    const open = await openCache();
    const other = await open();
    const validate: Validator["validate"] = async (_kind, items, _signal, listener) => {
      const stored = hashesIn(other, ["a"]);
      await other.begin(stored);
      await other.finish(stored, stored, ["ok"]);
      // The first answer lacks an item, which is asked for again.
      await listener!.onSubmit([0, 1, 2]);
      await listener!.onAnswered([1], [ok]);
      await listener!.onSubmit([2]);
      await listener!.onAnswered([2], [ok]);
      const verdicts = items.map((_, i) => (i === 0 ? notChecked : ok));
      return { verdicts, charged: 2, exhausted: false, quota: noQuota };
    };
    const { engine } = countingEngine();
    const { rows } = await runTable(table(["a", "b", "c"]), { ...engine, validate }, { cache: await open() });
    expect(statusesOf(rows)).toEqual(["ok", "ok", "ok"]);
    const next = await open();
    const items = hashesIn(next, ["a", "b", "c"]);
    expect((await next.claim(items, 60_000, () => {})).isElsewhere).toEqual([false, false, false]);
    expect((await (await open()).unfinished()).map((batch) => batch.length)).not.toContain(2);
  });

  test("submit the items of a run that has failed", async () => {
    const open = await openCache();
    const failing = countingEngine({
      onBatch: async () => {
        await sleep(150);
        throw new Error("tired");
      },
    });
    const { engine, batches } = countingEngine();
    const first = runTable(table(names), failing.engine, { cache: await open() });
    first.catch(() => {});
    await expect.poll(() => failing.batches.length).toBe(1);
    const { rows } = await runTable(table(["c", "x", "a"]), engine, { cache: await open() });
    await expect(first).rejects.toThrow("tired");
    expect(statusesOf(rows)).toEqual(["ok", "ok", "ok"]);
    expect(batches.flat().toSorted()).toEqual(["a", "c", "x"]);
    // The batch that failed was recorded, and may have been paid for: the next run sends it as it was.
    const again = countingEngine();
    await runTable(table(["b", ...names]), again.engine, { cache: await open() });
    expect(again.batches.flat()).not.toContain("a");
  });

  test("stop on a signal while they wait for each other", async () => {
    const open = await openCache();
    const stopping = new AbortController();
    let answer = () => {};
    const answered = new Promise<void>((resolve) => {
      answer = resolve;
    });
    const slow = countingEngine({ onBatch: () => answered });
    const first = runTable(table(["a"]), slow.engine, { cache: await open() });
    await expect.poll(() => slow.batches.length).toBe(1);
    const second = runTable(table(["a"]), countingEngine().engine, { cache: await open(), signal: stopping.signal });
    second.catch(() => {});
    await sleep(50);
    stopping.abort(new Error("stop"));
    await expect(second).rejects.toThrow("stop");
    answer();
    await first;
  });
});

test("an unknown status is written unchanged, and too many different ones end the run", async () => {
  const open = await openCache();
  const many = Array.from({ length: 130 }, (_, i) => `n${i}`);
  const { engine } = countingEngine({ batchSize: 200 });
  const validate: Validator["validate"] = async (_kind, items, _signal, listener) => {
    const verdicts = items.map((item) => ({ status: `status of ${item}` }));
    const indices = items.map((_, i) => i);
    await listener?.onSubmit(indices);
    await listener?.onAnswered(indices, verdicts);
    return { verdicts, charged: items.length, exhausted: false, quota: noQuota };
  };
  const { rows } = await runTable(table(["a", "b"]), { ...engine, validate }, { cache: await open() });
  expect(rows).toEqual(["a@b.net,status of a@b.net", "b@b.net,status of b@b.net"]);
  await expect(runTable(table(many), { ...engine, validate }, { cache: await open() })).rejects.toThrow(
    "the counting engine gave more than 100 different statuses and reasons",
  );
  // Nothing of that answer is in the cache.
  const next = countingEngine({ batchSize: 200 });
  await runTable(table(many), next.engine, { cache: await open() });
  expect(next.batches.flat()).toHaveLength(130);
});
