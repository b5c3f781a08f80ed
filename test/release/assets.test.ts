/** Covers dist/release, after build-release.mjs and build-assets.mjs: its archives, sums and formulas. */
import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { temporaryFolder } from "../support/temporary-folder.js";

const folder = fileURLToPath(new URL("../../dist/release/", import.meta.url));
const read = (name: string) => readFileSync(join(folder, name), "utf8");

test.skipIf(!existsSync(folder))("the assets of a release agree with their checksums", () => {
  execFileSync("sha256sum", ["--check", "--quiet", "SHA256SUMS"], { cwd: folder });
  const sums = new Map(
    read("SHA256SUMS")
      .trim()
      .split("\n")
      .map((line) => line.split("  ").reverse() as [string, string]),
  );
  const others = ["SHA256SUMS", "idv.rb", "idv.json"];
  expect([...sums.keys()].sort()).toEqual(
    readdirSync(folder)
      .filter((name) => !others.includes(name))
      .sort(),
  );
  const formulas = read("idv.rb") + read("idv.json");
  const named = [...formulas.matchAll(/\/(idv-[^"/#]*)(?:#\/idv\.exe)?"[,\s]+"?(?:sha256|hash)"?:? "(\w+)"/g)];
  expect(named.map(([, name]) => name).sort()).toEqual(
    [...sums.keys()].filter((name) => /(?:linux|macos|windows)-\w+\.(?:tar\.gz|exe)$/.test(name)).sort(),
  );
  for (const [, name = "", sum] of named) expect(sums.get(name), name).toBe(sum);
});

test.skipIf(!existsSync(folder) || process.platform !== "linux")("an archive has a program that runs by itself", () => {
  const home = temporaryFolder();
  const name = readdirSync(folder).find((each) => each.endsWith(`-linux-${process.arch}.tar.gz`))!;
  execFileSync("tar", ["--extract", "--gzip", "--file", join(folder, name)], { cwd: home });
  const options = { cwd: home, env: { HOME: home }, encoding: "utf8" } as const;
  expect(execFileSync(join(home, "idv"), ["check", "a@mailinator.com"], options)).toMatch(/\tdisposable\t/);
  expect(readdirSync(home)).toEqual(
    expect.arrayContaining(["LICENCES.txt", "LICENSE", "NOTICE", "completions", "idv.1"]),
  );
});

test.skipIf(!existsSync(folder))("the bill of materials names what is in the programs, and no tool", () => {
  const name = readdirSync(folder).find((each) => each.endsWith(".cdx.json"))!;
  const { bomFormat, components } = JSON.parse(read(name)) as { bomFormat: string; components: { name: string }[] };
  expect(bomFormat).toBe("CycloneDX");
  const names = components.map(({ name }) => name);
  expect(names).toEqual(expect.arrayContaining(["commander", "fastify", "undici", "node", "@photostructure/sqlite"]));
  for (const tool of ["vitest", "typescript", "knip"]) expect(names).not.toContain(tool);
});
