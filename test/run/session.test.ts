/** Covers runs that build on others: updates of a table, and several files in one session. */
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, expect, test } from "vitest";
import { countsOf, type RunSession } from "../../src/core/run/session.js";
import { offlineValidator } from "../../src/core/validator/offline.js";
import { FileError } from "../../src/files/errors.js";
import { classifier } from "../support/classifier.js";
import { reservationIn, TestQuota } from "../support/quota.js";
import { listOf, runTable } from "../support/run-table.js";
import { temporaryFolder } from "../support/temporary-folder.js";
import { times } from "../support/tier.js";

const value = fc.oneof(
  fc.constantFrom("", "n/a", "ann@larch-and-oak.com", "x@mailinator.com", "a@@b", '"a@mailinator.com; b@gmx.de"'),
  fc.nat(12).map((i) => `user${i}@${i % 2 ? "larch-and-oak.com" : "mailinator.com"}`),
);
const tableOf = (values: readonly string[]) => `id,email,note\n${values.map((item, i) => `${i},${item},x\n`).join("")}`;

const quotaFile = await TestQuota.open(join(temporaryFolder(), "quota.db"), Date.now);
const validator = offlineValidator({ classifier, source: {} }, quotaFile);
afterAll(() => quotaFile.close());

/** Validates a table, with the status column of an earlier run if it is an update. */
const run = (
  text: string,
  { strict = false, ...settings }: Parameters<typeof runTable>[2] & { strict?: boolean } = {},
) => runTable(text, validator, { ...settings, table: { columns: ["email"], strict } });

async function setLimit(limit: number | null): Promise<void> {
  await quotaFile.configure({ limit });
  await quotaFile.reset();
}

test("an update completes the rows that the quota left unchecked, and a second update changes nothing", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(value, { maxLength: 30 }), fc.nat(8), fc.boolean(), async (values, limit, strict) => {
      await setLimit(null);
      const whole = await run(tableOf(values), { strict });
      await setLimit(limit);
      const partly = await run(tableOf(values), { strict });
      await setLimit(null);
      const updated = await run(partly.output, { isUpdate: true, strict });
      expect(updated.output).toBe(whole.output);
      const again = await run(updated.output, { isUpdate: true, strict });
      expect(again.output).toBe(whole.output);
      expect(again.report.charged).toBe(0);
    }),
    { numRuns: times(150) },
  );
});

test("several files in a session give the same rows and charges as their concatenation", async () => {
  const arbitrary = fc.record({
    files: fc.array(fc.array(value, { maxLength: 12 }), { minLength: 1, maxLength: 4 }),
    limit: fc.option(fc.nat(12)),
    isService: fc.boolean(),
  });
  await fc.assert(
    fc.asyncProperty(arbitrary, async ({ files, limit, isService }) => {
      const rows = (output: string) =>
        output
          .split("\n")
          .slice(1, -1)
          .map((row) => row.replace(/^\d+/, ""));
      await setLimit(limit);
      const whole = await run(tableOf(files.flat()));
      await setLimit(limit);
      const session: RunSession = { isSeveral: true };
      const parts: Awaited<ReturnType<typeof run>>[] = [];
      for (const file of files) parts.push(await run(tableOf(file), { session, isService }));
      expect(parts.flatMap(({ output }) => rows(output))).toEqual(rows(whole.output));
      for (const name of ["charged", "distinct", "rows"] as const)
        expect(parts.reduce((total, { report }) => total + report[name], 0)).toBe(whole.report[name]);
    }),
    { numRuns: times(150) },
  );
});

test.each([false, true])(
  "a run whose output fails at any write does not affect the next run, with a service: %s",
  async (isService) => {
    await setLimit(null);
    const length = times(24_000, 8000);
    const users = (name: string) =>
      Array.from({ length }, (_, i) => `${name}${i}.long-enough-for-several-blocks@larch-and-oak.com`);
    let failing = 2;
    for (let hasFailed = true; hasFailed; failing++) {
      const session: RunSession = { isSeveral: true };
      let writes = 0;
      const sink = {
        write: async () => {
          if (++writes === failing) throw new FileError("no space");
        },
        commit: async () => {},
        discard: async () => {},
      };
      hasFailed = await runTable(listOf(users("a")), validator, { session, sink, isService }).then(
        () => false,
        () => true,
      );
      if (!hasFailed) continue;
      // Items of the failed run too, which may have been submitted or not.
      const next = [...users("b"), ...users("a").filter((_, i) => i % 101 === 0)];
      const { rows } = await runTable(listOf(next), validator, { session, isService });
      expect(rows.filter((row, i) => row !== `${next[i]},ok`)).toEqual([]);
      expect(rows).toHaveLength(next.length);
      expect(countsOf(session).charged).toBe(countsOf(session).distinct);
    }
    expect(failing).toBeGreaterThan(times(4, 3));
  },
);

/** Addresses that are long, so that a block has few of them. */
const longUsers = (count: number, from = 0) =>
  Array.from({ length: count }, (_, i) => `user${from + i}.${"x".repeat(48)}@larch-and-oak.com`);

test.each([false, true])(
  "a run whose input fails ends after the charge under way, with a service: %s",
  async (isService) => {
    const steps: string[] = [];
    let asked = 0;
    let fail = () => {};
    const failed = new Promise<void>((resolve) => {
      fail = resolve;
    });
    const slowly = offlineValidator(
      { classifier, source: {} },
      {
        async charge(units) {
          if (++asked === 2) {
            await failed;
            // Time in which a run that did not wait would end.
            for (let turn = 0; turn < 200; turn++) await new Promise((resolve) => setImmediate(resolve));
            steps.push("charged");
          }
          return { granted: units, quota: { left: null, renewsAt: null } as never };
        },
      },
    );
    async function* broken() {
      yield Buffer.from("email\n");
      for (let from = 0; asked < 2; from += 1000) yield Buffer.from(longUsers(1000, from).join("\n").concat("\n"));
      fail();
      throw new FileError("broken off");
    }
    const session: RunSession = { isSeveral: true };
    await expect(runTable(broken(), slowly, { session, isService })).rejects.toThrow("broken off");
    steps.push("ended");
    expect(steps).toEqual(["charged", "ended"]);
  },
);

test.each([false, true])(
  "the items of a failed run are charged once, together with the next run, with a service: %s",
  async (isService) => {
    await setLimit(null);
    const reservation = reservationIn(quotaFile.quotas);
    const units = isService
      ? quotaFile
      : { delivery: reservation, charge: (count: number) => reservation.charge(count) };
    const validator = offlineValidator({ classifier, source: {} }, units);
    const users = longUsers(25_000);
    async function* broken() {
      const bytes = Buffer.from(listOf(users));
      for (let at = 0; at < bytes.length; at += 65_536) yield bytes.subarray(at, at + 65_536);
      throw new FileError("broken off");
    }
    const session: RunSession = { isSeveral: true };
    const written: number[] = [];
    const sink = {
      write: async ({ length }: Uint8Array) => void written.push(length),
      commit: async () => {},
      discard: async () => {},
    };
    const failed = runTable(broken(), validator, { session, isService, sink, answersPauses: false });
    await expect(failed).rejects.toThrow("broken off");
    const before = written.length;
    // What a failed run has charged and not delivered is given back.
    if (!isService) expect(countsOf(session)).toMatchObject({ distinct: 0, charged: 0 });
    else expect(countsOf(session).charged).toBeLessThan(users.length);
    const { rows } = await runTable(listOf(users), validator, { session, isService });
    expect(rows.filter((row, i) => row !== `${users[i]},ok`)).toEqual([]);
    expect(rows).toHaveLength(users.length);
    // Rows that waited for a charge are not written with those of the next run.
    expect(written).toHaveLength(before);
    expect(countsOf(session)).toMatchObject({ distinct: users.length, charged: users.length });
    await reservation.deliver();
    await reservation.end();
    expect((await quotaFile.read()).used).toBe(users.length);
  },
);
