/** Covers the quota gate: units go to batches in their order, whatever the order of the answers. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { QuotaGate } from "../../../src/engines/api/quota-gate.js";
import { times } from "../../support/tier.js";

// The simulated service grants each batch the units that are left when the batch arrives.
test("grants units in the order of the batches, whatever the order of arrivals and answers", async () => {
  const arbitrary = fc.record({
    batches: fc.array(fc.integer({ min: 1, max: 20 }), { minLength: 1, maxLength: 30 }),
    quota: fc.option(fc.nat(300)),
    concurrency: fc.integer({ min: 1, max: 8 }),
    /** Pick the batch that arrives next at the service, and the answer that returns next. */
    choices: fc.infiniteStream(fc.nat(1000)),
  });
  await fc.assert(
    fc.asyncProperty(arbitrary, async ({ batches, quota, concurrency, choices }) => {
      const gate = new QuotaGate();
      const take = <Item>(list: Item[]): Item => list.splice(choices.next().value % list.length, 1)[0]!;
      const granted: number[] = batches.map(() => 0);
      let left = quota;
      const waiting = batches.map((units, index) => ({ units, index }));
      const sent: { units: number; index: number }[] = [];
      const answered: { units: number; left: number | undefined }[] = [];
      let inFlight = 0;
      const enter = () => {
        while (inFlight < concurrency && waiting.length > 0) {
          const batch = waiting.shift()!;
          inFlight++;
          void gate.enter(batch.units).then((goes) => {
            if (goes) sent.push(batch);
          });
        }
      };
      for (enter(); ; enter()) {
        await Promise.resolve();
        await Promise.resolve();
        if (sent.length + answered.length === 0) break;
        const arrives = sent.length > 0 && (answered.length === 0 || choices.next().value % 2 === 0);
        if (arrives) {
          const { units, index } = take(sent);
          granted[index] = left === null ? units : Math.min(units, left);
          if (left !== null) left -= granted[index]!;
          answered.push({ units, left: left ?? undefined });
        } else {
          const { units, left: said } = take(answered);
          inFlight--;
          gate.leave(units, said);
        }
      }
      let rest = quota ?? Number.POSITIVE_INFINITY;
      const expected = batches.map((units) => {
        const share = Math.min(units, rest);
        rest -= share;
        return share;
      });
      expect(granted).toEqual(expected);
    }),
    { numRuns: times(500) },
  );
});

test("holds back waiting batches once the quota is exhausted", async () => {
  const gate = new QuotaGate();
  expect(await gate.enter(5)).toBe(true);
  const second = gate.enter(5);
  gate.shut();
  expect(await second).toBe(false);
  expect(await gate.enter(1)).toBe(false);
});

describe("batches in flight", () => {
  /** Asks for the admission of batches, one after the other, and returns whether each was admitted at once. */
  async function admitted(gate: QuotaGate, ...batches: readonly number[]): Promise<boolean[]> {
    const found: boolean[] = [];
    for (const units of batches) {
      // Admission takes no more than the microtask of the promise.
      const late = new Promise<false>((resolve) => setImmediate(() => resolve(false)));
      found.push(await Promise.race([gate.enter(units), late]));
    }
    return found;
  }
  /** A gate whose first batch was answered like this. */
  async function gateAfter(left: number | undefined): Promise<QuotaGate> {
    const gate = new QuotaGate();
    await gate.enter(10);
    gate.leave(10, left);
    return gate;
  }

  test("stay at one before the first answer", async () => {
    expect(await admitted(new QuotaGate(), 1, 1)).toEqual([true, false]);
  });

  test("stay within what the units left cover", async () => {
    expect(await admitted(await gateAfter(20), 10, 10, 1)).toEqual([true, true, false]);
  });

  test("grow without limit if the first answer does not give the units left", async () => {
    expect(await admitted(await gateAfter(undefined), ...Array(50).fill(1000))).toEqual(Array(50).fill(true));
  });

  test("get a limit from the first answer that gives the units left", async () => {
    const gate = await gateAfter(undefined);
    await admitted(gate, 10, 10);
    gate.leave(10, 15);
    // 15 units are left, of which 10 are in flight.
    expect(await admitted(gate, 5, 1)).toEqual([true, false]);
  });

  test.each([undefined, 100])("keep their limit after an answer that gives %s units left", async (left) => {
    const gate = await gateAfter(10);
    await admitted(gate, 5, 5);
    gate.leave(5, left);
    expect(await admitted(gate, 1)).toEqual([false]);
  });
});

test("a batch that needs no request does not count as the first answer", async () => {
  const gate = new QuotaGate();
  await gate.enter(10);
  gate.leave(10, undefined, false);
  const admitted: number[] = [];
  for (const batch of [1, 2]) gate.enter(10).then(() => admitted.push(batch));
  await Promise.resolve();
  expect(admitted).toEqual([1]);
  gate.leave(10, 50);
  await Promise.resolve();
  expect(admitted).toEqual([1, 2]);
});
