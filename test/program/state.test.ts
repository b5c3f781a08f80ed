/** Covers idv state: what is exported is imported whole, and a key works after the move. */
import { readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { idv } from "../support/run-idv.js";
import { serve } from "../support/service.js";
import { temporaryFolder } from "../support/temporary-folder.js";

async function validate(url: string, key: string): Promise<Response> {
  return fetch(`${url}/emails/validate`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json", "idempotency-key": "k" },
    body: JSON.stringify({ emails: ["ann@larch-and-oak.com"] }),
  });
}

test("a state is moved, with its usage and stored answers, in a file for its owner only", async () => {
  const home = temporaryFolder();
  const [from, to] = [join(home, "a.db"), join(home, "b.db")];
  const created = await idv(["keys", "create", "--name", "shop", "--limit", "10", "--state", from], { home });
  const key = created.stdout.trim();
  const before = await serve(home, "-q", "--state", from);
  expect((await validate(before.url, key)).status).toBe(200);
  await before.kill();
  const file = join(home, "state.jsonl");
  const exported = await idv(["state", "export", "--state", from, "-o", file], { home });
  expect(exported).toEqual({
    ...{ code: 0, stdout: "" },
    stderr: "idv: exported 1 key, 1 quota, 1 line of usage, 1 stored answer\n",
  });
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(readFileSync(file, "utf8")).not.toContain(key);
  const imported = await idv(["state", "import", file, "--state", to], { home });
  expect(imported.stderr).toBe("idv: imported 1 key, 1 quota, 1 line of usage, 1 stored answer\n");
  const after = await serve(home, "-q", "--state", to);
  expect((await validate(after.url, key)).status).toBe(200);
  await after.kill();
  // The Idempotency-Key was stored: nothing was charged again.
  expect((await idv(["keys", "list", "--json", "--state", to], { home })).stdout).toContain('"used":1');
  const again = await idv(["state", "export", "--state", to], { home });
  expect(again.stdout).toBe(readFileSync(file, "latin1"));
});

const first = '{"idv":"state","version":1}';

test.each([
  ["", "standard input: not a state that this version of idv has exported"],
  ['{"idv":"state","version":2}\n', "standard input:1: not a state"],
  [`${first}\nnonsense\n`, "standard input:2: not a state"],
  [`${first}\n{"usage":{"key_id":"a"}}\n`, "standard input:2: not a state"],
  [`${first}\n{"key":null}\n`, "standard input:2: not a state"],
])("%j is refused, and nothing is imported", async (stdin, message) => {
  const home = temporaryFolder();
  const { code, stderr } = await idv(["state", "import"], { home, stdin });
  expect(code, stderr).not.toBe(0);
  expect(stderr).toContain(message);
  expect((await idv(["keys", "list", "--json"], { home })).stdout).toBe("");
});

test("a state in use, and a file that is not there, are refused in one line", async () => {
  const home = temporaryFolder();
  await idv(["keys", "create", "--name", "shop"], { home });
  writeFileSync(join(home, "state.jsonl"), `${first}\n`);
  const used = await idv(["state", "import", "state.jsonl"], { home });
  expect(used.stderr).toContain("the state has keys or quotas already; import into a new one\n");
  const absent = await idv(["state", "import", "none.jsonl", "--state", "new.db"], { home });
  expect(absent.stderr).toMatch(/^idv: none\.jsonl: cannot be read: .*\n$/);
});
