/** Covers --shard: runs that share a list without talking to each other; test/cli/bulk/shards.test.ts has the rest. */
import { expect, test } from "vitest";
import { readQuota } from "../../support/quota.js";
import { idv } from "../../support/run-idv.js";
import { folderOf } from "../../support/temporary-folder.js";

const rows = Array.from({ length: 60 }, (_, i) => `${i},${i % 10 ? `user${i % 40}@larch-and-oak.com` : ""}\n`);
const list = `id,email\n${rows.join("")}`;

const home = () => folderOf({ "list.csv": list });

test("shards put together are the list, charged once", async () => {
  const folder = home();
  const options = { home: folder };
  const args = ["emails", "list.csv", "--offline"];
  const whole = await idv(args, options);
  const charged = (await readQuota(folder)).used;
  const parts: string[] = [];
  for (const i of [1, 2, 3]) {
    const { code, stdout } = await idv([...args, "--shard", `${i}/3`, "--set", "header=first"], options);
    expect(code).toBe(0);
    parts.push(stdout);
  }
  const lines = (text: string) => text.trimEnd().split("\n").toSorted();
  expect(lines(parts.join(""))).toEqual(lines(whole.stdout));
  expect(parts.map((part) => part.startsWith("id,email,status\n"))).toEqual([true, false, false]);
  expect((await readQuota(folder)).used).toBe(2 * charged);
});
