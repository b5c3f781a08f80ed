/** Covers idv state: what is exported is imported whole, and a key works after the move. */
import { readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { idv } from "../../support/run-idv.js";
import { serve } from "../../support/service.js";
import { temporaryFolder } from "../../support/temporary-folder.js";

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
  const { id } = JSON.parse((await idv(["keys", "list", "--json", "--state", from], { home })).stdout);
  await idv(["keys", "rotate", id, "--grace", "24h", "--state", from], { home });
  const before = await serve(home, "-q", "--state", from);
  expect((await validate(before.url, key)).status).toBe(200);
  await before.kill();
  const file = join(home, "state.jsonl");
  const exported = await idv(["state", "export", "--state", from, "-o", file], { home });
  expect(exported).toEqual({
    ...{ code: 0, stdout: "" },
    stderr: "idv: exported 1 key, 1 quota, 1 line of usage, 1 stored answer, 2 lines of the audit\n",
  });
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(readFileSync(file, "utf8")).not.toContain(key);
  const imported = await idv(["state", "import", file, "--state", to], { home });
  expect(imported.stderr).toBe(
    "idv: imported 1 key, 1 quota, 1 line of usage, 1 stored answer, 2 lines of the audit\n",
  );
  const after = await serve(home, "-q", "--state", to);
  expect((await validate(after.url, key)).status).toBe(200);
  await after.kill();
  // The Idempotency-Key was stored: nothing was charged again.
  expect((await idv(["keys", "list", "--json", "--state", to], { home })).stdout).toContain('"used":1');
  const again = await idv(["state", "export", "--state", to], { home });
  expect(again.stdout).toBe(readFileSync(file, "latin1"));
});

const first = '{"idv":"state","version":2}';

test("an export that was cut anywhere is refused, and nothing is imported", async () => {
  const home = temporaryFolder();
  for (const name of ["a", "b", "c"]) await idv(["keys", "create", "--name", name], { home });
  const { stdout } = await idv(["state", "export"], { home });
  const lines = stdout.split("\n").length - 1;
  for (const count of [1, 4, lines - 1]) {
    const stdin = stdout.split("\n").slice(0, count).join("\n");
    const cut = await idv(["state", "import", "--state", "new.db"], { home, stdin });
    expect([cut.code, cut.stderr]).toEqual([6, expect.stringContaining("is cut off")]);
    expect((await idv(["keys", "list", "--state", "new.db"], { home })).stdout).toBe("");
  }
  const whole = await idv(["state", "import", "--state", "new.db"], { home, stdin: stdout });
  expect(whole.stderr).toContain(
    "imported 3 keys, 3 quotas, 0 lines of usage, 0 stored answers, 3 lines of the audit",
  );
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
