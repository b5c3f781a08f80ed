/** Covers the claims of state files in folders that machines share. A second machine is a claim file with another name in it. */
import { existsSync, readFileSync, utimesSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { beforeEach, expect, onTestFinished, test, vi } from "vitest";
import { MachineClaim } from "../../../src/store/sqlite/machine-claim.js";
import { temporaryFolder } from "../../support/temporary-folder.js";

let path: string;
beforeEach(() => {
  path = join(temporaryFolder(), "quota.db");
});
const claim = () => MachineClaim.of(path, "quota file", "NFS");
const claimFile = (number: number) => `${path}-machine-${number}`;

test("a file on a local disk needs no claim", () => {
  expect(MachineClaim.of(path, "quota file")).toBeUndefined();
});

test("processes of one machine share a claim", () => {
  claim();
  claim();
  expect(readFileSync(claimFile(1), "utf8")).toMatch(new RegExp(`^${hostname()} \\S* \\d+$`));
  expect(existsSync(claimFile(2))).toBe(false);
});

test("a file in use on another machine is refused, and taken over after two minutes", () => {
  writeFileSync(claimFile(7), "elsewhere boot 42");
  expect(claim).toThrow(
    `${path}: the quota file is in use on elsewhere, and machines cannot share it on NFS; use a shared quota on a database`,
  );
  const old = Date.now() / 1000 - 121;
  utimesSync(claimFile(7), old, old);
  claim();
  expect(existsSync(claimFile(7))).toBe(false);
  expect(readFileSync(claimFile(8), "utf8")).toContain(hostname());
});

test("a process that slept while its file was taken over is refused the file", () => {
  vi.useFakeTimers({ toFake: ["performance"] });
  onTestFinished(() => void vi.useRealTimers());
  const own = claim()!;
  writeFileSync(claimFile(2), "elsewhere boot 42");
  own.stay();
  vi.advanceTimersByTime(20_001);
  expect(() => own.stay()).toThrow("is in use on elsewhere");
});
