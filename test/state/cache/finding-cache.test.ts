/** Covers what is kept of DNS answers: for how long, for whom, and that no domain is in the file. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { VerdictCache } from "../../../src/state/cache/verdict-cache.js";
import { temporaryFolder } from "../../support/temporary-folder.js";

const [hour, day] = [3_600_000, 86_400_000];
const kinds = ["mx", "no-such-domain", "no-mail-server", "null-mx"];
const domains = kinds.map((kind) => `${kind}.larch-and-oak.com`);

async function openFindings() {
  let now = Date.parse("2026-11-21T10:30:00Z");
  const path = join(temporaryFolder(), "verdicts.db");
  const cache = await VerdictCache.open(path, () => now);
  const findings = cache.findings("secret", ["192.0.2.1"]);
  await findings.store(new Map(kinds.map((kind, i) => [domains[i]!, { kind }])));
  await findings.store(new Map([["x.net", { kind: "disposable-mx", suffix: "mailinator.com" }]]));
  const kindsOf = async (from = findings) => (await from.load(domains)).map((finding) => finding?.kind);
  const pass = (milliseconds: number) => {
    now += milliseconds;
  };
  return { path, cache, findings, kindsOf, pass };
}

test("findings are stored with the suffix of a disposable exchange", async () => {
  const { findings, kindsOf } = await openFindings();
  expect(await kindsOf()).toEqual(kinds);
  const found = await findings.load(["x.net", "y.net"]);
  expect(found).toEqual([{ kind: "disposable-mx", suffix: "mailinator.com" }, undefined]);
});

test("the newest finding on a domain replaces the others", async () => {
  const { findings, kindsOf } = await openFindings();
  await findings.store(new Map([[domains[0]!, { kind: "null-mx" }]]));
  expect((await kindsOf())[0]).toBe("null-mx");
});

test("findings are used for a day, and those that may soon be repaired for an hour", async () => {
  const { kindsOf, pass } = await openFindings();
  pass(hour);
  expect(await kindsOf()).toEqual(kinds);
  pass(1);
  expect(await kindsOf()).toEqual(["mx", undefined, undefined, "null-mx"]);
  pass(day - hour - 1);
  expect(await kindsOf()).toEqual(["mx", undefined, undefined, "null-mx"]);
  pass(1);
  expect(await kindsOf()).toEqual(Array(4).fill(undefined));
});

test("findings dated in the future are not used", async () => {
  const { kindsOf, pass } = await openFindings();
  pass(-1);
  expect(await kindsOf()).toEqual(Array(4).fill(undefined));
});

test("each DNS server and each secret has findings of its own", async () => {
  const { cache, kindsOf } = await openFindings();
  for (const other of [cache.findings("secret", ["192.0.2.2"]), cache.findings("other", ["192.0.2.1"])]) {
    expect(await kindsOf(other)).toEqual(Array(4).fill(undefined));
  }
  expect(await kindsOf(cache.findings("secret", ["192.0.2.1"]))).toEqual(kinds);
});

test("the file contains no looked-up domain", async () => {
  const { path } = await openFindings();
  const bytes = readFileSync(path, "latin1") + readFileSync(`${path}-wal`, "latin1");
  // The listed suffix is there, so a domain would be, too.
  expect([bytes.includes("mailinator.com"), bytes.includes("larch")]).toEqual([true, false]);
});
