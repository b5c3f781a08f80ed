/** Covers `idv mcp` with the client of the official SDK, as an assistant uses it. */
import { existsSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { expect, test } from "vitest";
import { afterFile } from "../../support/clean-up.js";
import { command, idv } from "../../support/run-idv.js";
import { jsonLines } from "../../support/states.js";
import { folderOf, temporaryFolder } from "../../support/temporary-folder.js";

const home = folderOf({ "list.csv": "id,email\n1,ann@larch-and-oak.com\n2,x@mailinator.com\n3,bob.smith@gmial.com\n" });
const client = new Client({ name: "test", version: "1" });
await client.connect(
  new StdioClientTransport({
    command: command[0]!,
    args: [...command.slice(1), "mcp"],
    cwd: home,
    env: { PATH: process.env["PATH"]!, HOME: home, XDG_STATE_HOME: join(home, "state") },
  }),
);
afterFile(() => client.close());

async function call(name: string, given: Record<string, unknown> = {}) {
  const { content, isError } = await client.callTool({ name, arguments: given });
  return { text: (content as { text: string }[])[0]!.text, isError: isError === true };
}

test("names its tools, and which of them change something", async () => {
  const { tools } = await client.listTools();
  expect(tools.map(({ name, annotations }) => [name, annotations?.readOnlyHint])).toEqual([
    ["check", true],
    ["explain", true],
    ["check_file", false],
    ["quota", true],
  ]);
});

test("check and explain give the verdicts of the command", async () => {
  const items = ["grace.lee@gmial.com", "--help", "a\nb@c.de", "mailinator.com"];
  const { text, isError } = await call("check", { items });
  expect(isError).toBe(false);
  const verdicts = jsonLines(text);
  expect(verdicts.map(({ status }) => status)).toEqual(["fake", "fake", "fake", "disposable"]);
  expect(verdicts[0]).toMatchObject({ suggestion: "grace.lee@gmail.com" });
  const { why } = JSON.parse((await call("explain", { item: "x@mailinator.com" })).text);
  expect(why).toMatchObject({ rule: "disposable domain" });
  for (const items of [[], Array(501).fill("a"), "a", [1]])
    expect(await call("check", { items })).toEqual({ text: "items must be 1 to 500 texts", isError: true });
});

test("check_file writes beside the file, counts, and takes units", async () => {
  const { text } = await call("check_file", { path: "list.csv", fix: true, onlyGood: true });
  expect(JSON.parse(text)).toMatchObject({
    ...{ outputs: [{ path: "./list-good.csv" }], rows: 3, written: 2 },
    ...{ statuses: { ok: 2, disposable: 1 }, units: { used: 3 } },
  });
  expect(readFileSync(join(home, "list-good.csv"), "utf8")).toBe(
    "id,email,status,reason,suggestion,was\n1,ann@larch-and-oak.com,ok,,,\n3,bob.smith@gmail.com,ok,fixed,,bob.smith@gmial.com\n",
  );
  const both = [call("check_file", { path: "list.csv" }), call("check_file", { path: "list.csv" })];
  expect((await Promise.all(both)).map(({ isError }) => isError)).toEqual([false, true]);
  const isThere = { isError: true, text: expect.stringContaining("list-checked.csv is there already") };
  expect(await call("check_file", { path: "list.csv" })).toMatchObject(isThere);
  expect((await call("check_file", { path: "list.csv", overwrite: true })).isError).toBe(false);
  expect(JSON.parse((await call("quota")).text)).toMatchObject({ used: 9 });
});

test("check_file makes a table of what is only read", async () => {
  writeFileSync(join(home, "book.vcf.gz"), gzipSync("BEGIN:VCARD\nEMAIL:ann@larch-and-oak.com\nEND:VCARD\n"));
  const { text } = await call("check_file", { path: "book.vcf.gz" });
  expect(JSON.parse(text)).toMatchObject({ rows: 1, outputs: [{ path: "./book-checked.csv" }] });
});

test("check_file tells what it found in a table with thousands of columns", async () => {
  const names = Array.from({ length: 5000 }, (_, i) => `column_with_a_long_name_${i}`);
  writeFileSync(join(home, "wide.csv"), `email,${names.join(",")}\nann@larch-and-oak.com${",".repeat(5000)}\n`);
  const { text } = await call("check_file", { path: "wide.csv" });
  expect(JSON.parse(text)).toMatchObject({ rows: 1, statuses: { ok: 1 }, inputs: [{ name: "./wide.csv" }] });
});

test("files outside the folder are refused, and faults are those of the command", async () => {
  const outside = temporaryFolder();
  writeFileSync(join(outside, "other.csv"), "email\na@b.c\n");
  symlinkSync(join(outside, "other.csv"), join(home, "link.csv"));
  for (const path of [join(outside, "other.csv"), "../x.csv", "link.csv", "/etc/passwd", "", "none.csv", 3]) {
    expect((await call("check_file", { path })).isError).toBe(true);
  }
  expect(existsSync(join(outside, "other-checked.csv"))).toBe(false);
  writeFileSync(join(home, "words.csv"), "a,b\n1,2\n");
  const fault = { isError: true, text: expect.stringContaining("no column looks like e-mail addresses") };
  expect(await call("check_file", { path: "words.csv" })).toMatchObject(fault);
  expect(await call("nothing")).toEqual({ text: "no tool nothing", isError: true });
});

test("calls are answered though standard input ends after them", async () => {
  const request = (id: number, method: string, params: object) =>
    `${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`;
  const client = { name: "test", version: "1" };
  const { stdout } = await idv(["mcp"], {
    stdin:
      request(1, "initialize", { protocolVersion: "2024-11-05", capabilities: {}, clientInfo: client }) +
      request(2, "tools/call", { name: "check", arguments: { items: ["x@mailinator.com"] } }),
  });
  expect(stdout).toContain('\\"status\\":\\"disposable\\"');
});
