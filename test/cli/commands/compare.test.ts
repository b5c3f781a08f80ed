/** Covers `idv compare`. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { idv } from "../../support/run-here.js";
import { folderOf } from "../../support/temporary-folder.js";
import { times } from "../../support/tier.js";

const older =
  "id,email,status\n1,a@x.com,ok\n2,b@x.com,fake\n3,c@x.com,disposable\n4,d@x.com,alias\n5,,\n6,e@x.com,quota_exceeded\n";
const newer =
  "id;email;status\n2;B@X.com;ok\n1;a@x.com;disposable\n4;d@x.com;alias\n7;f@x.com;fake\n8;f@x.com;fake\n";

test("counts distinct items by what became of them, in any format", async () => {
  const home = folderOf({ "old.csv": older, "new.csv": newer });
  const { code, stdout } = await idv(["compare", "old.csv", "new.csv", "--json"], { home });
  expect([code, JSON.parse(stdout)]).toEqual([
    0,
    {
      before: { items: 4, bad: 2 },
      now: { items: 4, bad: 2 },
      worsened: 1,
      newAndBad: 1,
      recovered: 1,
      goneAndBad: 1,
      firstChecked: { items: 0, bad: 0 },
      isWorse: false,
    },
  ]);
  const text = await idv(["compare", "old.csv", "new.csv"], { home });
  expect(text.stdout).toBe(
    "old.csv: 4 distinct items, 2 bad (50.0 %)\nnew.csv: 4 distinct items, 2 bad (50.0 %)\n" +
      "  became bad                    1\n  new and bad                   1\n" +
      "  good again                    1\n  bad and gone                  1\n",
  );
});

test("--fail-on worse exits with 1 if the share grew", async () => {
  const home = folderOf({
    "a.jsonl": '{"email":"a@x.com","status":"ok"}\n{"email":"b@x.com","status":"fake"}\n',
    "b.csv": "email,status\na@x.com,fake\nb@x.com,fake\n",
  });
  const worse = await idv(["compare", "a.jsonl", "b.csv", "--fail-on", "worse"], { home });
  expect([worse.code, worse.stderr]).toEqual([1, "idv: --fail-on worse: 100.0 % are bad, 50.0 % were\n"]);
  expect((await idv(["compare", "b.csv", "a.jsonl", "--fail-on", "worse"], { home })).code).toBe(0);
});

test("items that had no units before make no list worse", async () => {
  const home = folderOf({
    "old.csv": "email,status\na@x.com,ok\nb@x.com,fake\nc@x.com,quota_exceeded\nd@x.com,quota_exceeded\n",
    "new.csv": "email,status\na@x.com,ok\nb@x.com,fake\nc@x.com,fake\nd@x.com,quota_exceeded\n",
  });
  const { code, stdout } = await idv(["compare", "old.csv", "new.csv", "--fail-on", "worse"], { home });
  expect(code).toBe(0);
  expect(stdout).toContain("  new and bad                   0\n");
  expect(stdout).toContain("  checked only now              1, 1 bad; not compared\n");
});

test("a table without statuses is refused", async () => {
  const home = folderOf({
    "old.csv": older,
    "plain.csv": "email\na@x.com\n",
    "own.csv": "email,status\na@x.com,paid\n",
  });
  for (const name of ["plain.csv", "own.csv"]) {
    const { code, stderr } = await idv(["compare", "old.csv", name], { home });
    expect([code, stderr]).toEqual([6, `idv: ${name}: has no status column of idv; check it first\n`]);
  }
  expect((await idv(["compare", "none.csv", "old.csv"], { home })).code).toBe(6);
});

test("agrees with sets of the same items", async () => {
  const row = fc.tuple(fc.integer({ min: 0, max: 30 }), fc.boolean());
  const textOf = (rows: readonly (readonly [number, boolean])[]) =>
    `email,status\n${[...new Map(rows)].map(([n, isBad]) => `u${n}@x.com,${isBad ? "fake" : "ok"}\n`).join("")}`;
  const rows = fc.array(row, { minLength: 1, maxLength: 40 });
  await fc.assert(
    fc.asyncProperty(rows, rows, async (before, now) => {
      const home = folderOf({ "a.csv": textOf(before), "b.csv": textOf(now) });
      const { stdout } = await idv(["compare", "a.csv", "b.csv", "--json"], { home });
      const [old, next] = [new Map(before), new Map(now)];
      const count = (from: Map<number, boolean>, test: (n: number, isBad: boolean) => boolean) =>
        [...from].filter(([n, isBad]) => test(n, isBad)).length;
      expect(JSON.parse(stdout)).toMatchObject({
        worsened: count(next, (n, isBad) => isBad && old.get(n) === false),
        newAndBad: count(next, (n, isBad) => isBad && !old.has(n)),
        recovered: count(next, (n, isBad) => !isBad && old.get(n) === true),
        goneAndBad: count(old, (n, isBad) => isBad && !next.has(n)),
      });
    }),
    { numRuns: times(50) },
  );
});
