/** Covers `idv page` and `idv serve --try`, which give the page to browsers. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { collected, startInShell } from "../../support/processes.js";
import { finished, idv, startIdv } from "../../support/run-idv.js";
import { serve } from "../../support/service.js";
import { folderOf, temporaryFolder } from "../../support/temporary-folder.js";

const page = readFileSync(fileURLToPath(new URL("../../../dist/page/index.html", import.meta.url)), "utf8");

test("idv page serves it on loopback until it is stopped", async () => {
  const child = startIdv(["page", "--port", "0"]);
  const said = collected(child.stdout);
  await expect.poll(said).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/\n$/);
  const url = said().trim();
  const answer = await fetch(url);
  expect([answer.status, answer.headers.get("content-type")]).toEqual([200, "text/html; charset=utf-8"]);
  expect(await answer.text()).toBe(page);
  expect(await (await fetch(`${url}service-worker.js`)).text()).toContain("caches");
  expect((await fetch(`${url}other`)).status).toBe(404);
  expect((await fetch(url, { method: "POST" })).status).toBe(404);
  const taken = await idv(["page", "--port", new URL(url).port]);
  expect(taken).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("the port is in use; choose another --port"),
  });
  child.kill("SIGTERM");
  await expect.poll(() => child.exitCode ?? child.signalCode).not.toBeNull();
});

test("idv page -o writes it as a file", async () => {
  const home = temporaryFolder();
  expect(await idv(["page", "-o", "check.html"], { home })).toEqual({ code: 0, stdout: "", stderr: "" });
  expect(readFileSync(join(home, "check.html"), "utf8")).toBe(page);
});

test("idv page -o leaves nothing of a file that does not fit", async () => {
  const home = temporaryFolder();
  const child = startInShell('ulimit -f 8; exec "$@"', ["page", "-o", "check.html"], home);
  const stderr = "idv: check.html: cannot be written: it would exceed the file size limit (ulimit -f)\n";
  expect(await finished(child)).toMatchObject({ code: 6, stderr });
  expect(readdirSync(home)).toEqual([]);
});

test("idv page and idv state export replace only what they have written", async () => {
  const home = folderOf({ "list.csv": "email\n", "list.html": "<p>mine</p>", "list.jsonl": '{"email":"a@b.net"}\n' });
  await idv(["keys", "create", "--name", "shop"], { home });
  for (const command of [["page"], ["state", "export"]]) {
    const own = command[0] === "page" ? "own.html" : "own.jsonl";
    for (const name of ["list.csv", own.replace("own", "list")]) {
      const { code, stderr } = await idv([...command, "-o", name], { home });
      expect([name, code, stderr]).toEqual([name, 2, expect.stringContaining(`-o ${name}: `)]);
    }
    for (const _ of ["first", "again"]) expect((await idv([...command, "-o", own], { home })).code).toBe(0);
  }
  expect(readFileSync(join(home, "list.csv"), "utf8")).toBe("email\n");
});

test("idv serve has it at /try/ only if it is asked for", async () => {
  const home = temporaryFolder();
  const without = await serve(home, "-q");
  expect((await fetch(`${without.url}/try/`)).status).toBe(404);
  const { url } = await serve(home, "-q", "--try");
  const answer = await fetch(`${url}/try`);
  expect([answer.status, answer.url]).toEqual([200, `${url}/try/`]);
  expect(await answer.text()).toBe(page);
  expect(answer.headers.get("content-encoding")).toBe("gzip");
  expect(answer.headers.get("content-security-policy")).toBe("frame-ancestors 'none'");
  const again = await fetch(answer.url, { headers: { "if-none-match": answer.headers.get("etag")! } });
  expect(again.status).toBe(304);
  expect((await fetch(`${url}/try/service-worker.js`)).headers.get("content-type")).toBe(
    "text/javascript; charset=utf-8",
  );
});
