/** Covers the recipe of `idv help machines` for GNU split: the parts are the list, in its order. */
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { finished } from "../support/run-idv.js";
import { addresses, areInstalled, homeWithQuota, rowsOf, writeList } from "./tools.js";

const help = readFileSync(new URL("../../src/cli/help/topics/machines.md", import.meta.url), "utf8");
const [, recipe = ""] = /```\n(\{ head[\s\S]*?)```/.exec(help) ?? [];

test.skipIf(!areInstalled({ "split --version | grep -q GNU": "coreutils" }))(
  "parts of GNU split put together are the list",
  async () => {
    const { home, env } = await homeWithQuota(1000);
    const list = addresses("user", 999);
    writeList(join(home, "list.csv"), list);
    const rows: string[] = [];
    for (let part = 1; part <= 16; part++) {
      const ofPart = recipe.replace("l/2/", `l/${part}/`).replace("part-2", `part-${part}`);
      const script = part === 1 ? ofPart.replace("head -n 1 list.csv; ", "") : ofPart;
      const child = spawn("sh", ["-ec", script], { cwd: home, env });
      expect(await finished(child)).toMatchObject({ code: 0 });
      rows.push(...rowsOf(join(home, `part-${part}.csv`)));
    }
    expect(rows).toEqual(list.map((address) => `${address},ok`));
  },
);
