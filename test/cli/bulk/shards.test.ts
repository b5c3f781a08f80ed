/** Covers --shard and the setting header: runs that share a list without talking to each other. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { readQuota } from "../../support/quota.js";
import { idv } from "../../support/run-here.js";
import { folderOf } from "../../support/temporary-folder.js";

const rows = Array.from({ length: 60 }, (_, i) => `${i},${i % 10 ? `user${i % 40}@larch-and-oak.com` : ""}\n`);
const list = `id,email\n${rows.join("")}`;

const home = () => folderOf({ "list.csv": list });

test("each shard has a header, unless it is left out with header=never", async () => {
  const folder = home();
  const never = await idv(["emails", "list.csv", "--set", "header=never"], { home: folder });
  expect(never.stdout.startsWith("0,,\n1,user1@larch-and-oak.com,ok\n")).toBe(true);
  const second = await idv(["emails", "list.csv", "--shard", "2/2"], { home: folder });
  expect(second.stdout.startsWith("id,email,status\n")).toBe(true);
});

test("bad rows are reported by the first shard only", async () => {
  const folder = home();
  writeFileSync(join(folder, "bad.csv"), "id,email\n1,ann@larch-and-oak.com,x,y\n2,bob@larch-and-oak.com\n");
  const args = ["emails", "bad.csv", "--bad-rows", "skip", "--log", "json"];
  const found: number[] = [];
  for (const shard of ["1/2", "2/2"]) {
    const { stderr } = await idv([...args, "--shard", shard], { home: folder });
    found.push(JSON.parse(stderr.trimEnd().split("\n").at(-1)!).badRows);
  }
  expect(found).toEqual([1, 0]);
});

test.each([
  [["--shard", "0/4"], '--shard: "0/4" is invalid'],
  [["--shard", "5/4"], '--shard: "5/4" is invalid'],
  [["--shard", "1/2", "-I"], "--in-place would lose the rows of the other shards"],
  [["--shard", "1/2", "-c", "id", "-c", "email"], "--shard needs one column"],
  [["--shard", "1/2", "-c", "*"], "--shard needs one column"],
  [["--shard", "1/2", "--dedupe=canonical"], "--dedupe=canonical does not work with --shard"],
  [["--shard", "1/2", "--dedupe", "--fix", "-o", "o.csv"], "--fix with --dedupe does not work with --shard"],
  [["--set", "header=never", "-I"], "--in-place would lose the header"],
])("%j is refused before anything is charged", async (args, message) => {
  const folder = home();
  const { code, stderr } = await idv(["emails", "list.csv", ...args], { home: folder });
  expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining(message) });
  expect((await readQuota(folder)).used).toBe(0);
});
