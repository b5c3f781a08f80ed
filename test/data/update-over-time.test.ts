/** Covers runs of `idv data update`, from a registry that a stand-in for npm reads from a folder. */
import { createHash } from "node:crypto";
import { chmodSync, existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createTarGzip } from "nanotar";
import { expect, test } from "vitest";
import { listPackages } from "../../src/data/sources.js";
import { idv } from "../support/run-here.js";
import { temporaryFolder } from "../support/temporary-folder.js";

/** Answers `npm view` and `npm pack` with files of the folder REGISTRY, named after packages with `/` as `+`. */
const npm = `#!/bin/sh
fileOf() { echo "$REGISTRY/$(echo "\${1%@*}" | tr / +)"; }
command=$1; shift
if [ "$command" = view ]; then
  cat "$(fileOf "$1").json" 2> /dev/null && exit
  echo '{"error":{"code":"E404","summary":"Not Found"}}'; exit 1
fi
for word; do [ "$last" = --pack-destination ] && folder=$word; last=$word; done
separator='['
for word; do
  case $word in --*) break ;; esac
  file=$(fileOf "$word"); cp "$file.tgz" "$folder/"
  printf '%s{"name":"%s","filename":"%s"}' "$separator" "\${word%@*}" "\${file##*/}.tgz"; separator=,
done
echo ']'
`;

/** Lengths of lists that look like those in use; the others have 40,000 names. */
const lengths: Readonly<Record<string, number>> = {
  "disposable-domains": 70_000,
  "disposable-email-domains-js": 5000,
  fakefilter: 5000,
  "disposable-email-domains": 70_000,
};

/** A registry in a new folder, and the settings of a run that asks it. */
function registry() {
  const home = temporaryFolder();
  const [bin, folder] = [join(home, "bin"), join(home, "registry")];
  for (const each of [bin, folder]) mkdirSync(each);
  writeFileSync(join(bin, "npm"), npm);
  chmodSync(join(bin, "npm"), 0o755);
  const pathOf = (name: string, ending: string) => join(folder, `${name.replace("/", "+")}.${ending}`);
  /** Publishes the list of a package. Lists of doubts and old names have names of their own, which add nothing. */
  const publish = async (name: string, file: string, version: string, more: readonly string[] = []) => {
    const length = lengths[name] ?? 40_000;
    const start = length === 40_000 || name === "disposable-email-domains" ? "other" : "throwaway";
    const list = [...Array.from({ length }, (_, i) => `${start}-${i}.com`), ...more];
    const tarball = await createTarGzip([{ name: `package/${file}`, data: JSON.stringify(list) }]);
    const integrity = `sha512-${createHash("sha512").update(tarball).digest("base64")}`;
    const facts = { version, license: "MIT", time: { [version]: "2030-01-02T03:04:05.000Z" } };
    writeFileSync(pathOf(name, "json"), JSON.stringify({ ...facts, "dist.integrity": integrity }));
    writeFileSync(pathOf(name, "tgz"), tarball);
  };
  const remove = (name: string) => rmSync(pathOf(name, "json"));
  const env = {
    ...{ PATH: `${bin}:${process.env["PATH"]}`, REGISTRY: folder },
    XDG_DATA_HOME: join(home, "data"),
  };
  return { publish, remove, run: { home, env } };
}

test("an update keeps what a list has corrected when the registry no longer has it", async () => {
  const { publish, remove, run } = registry();
  for (const { name, file } of listPackages) await publish(name, file, "9.0.0");
  expect(await idv(["data", "update"], run)).toMatchObject({
    ...{ code: 0, stdout: expect.stringContaining("; 70,223 entries, "), stderr: "" },
  });
  const gone = ["mailchecker", "burner-email-providers"];
  for (const { name, file } of listPackages) {
    if (gone.includes(name)) remove(name);
    else await publish(name, file, "9.0.1");
  }
  const { code, stdout, stderr } = await idv(["data", "update"], run);
  expect({ code, stdout }).toEqual({
    code: 0,
    stdout: expect.stringContaining("; 70,223 entries, 70,223 before"),
  });
  expect(stderr, JSON.stringify(stderr)).toMatch(
    /^(?:idv: [a-z-]+: npm failed: E404, .*; going on with the names that its last version left in the lists\n){2}$/,
  );
  // In the list of doubted names, and cleared by mailchecker.
  const check = await idv(["check", "a@other-1.com"], run);
  expect(check.stdout).toBe("a@other-1.com\tok\n");
  const shown = JSON.parse((await idv(["data", "show", "--json"], run)).stdout);
  for (const name of gone) {
    expect(shown.sources).toContainEqual(expect.objectContaining({ name, version: "9.0.0", missing: true }));
  }
  // Back in the same version, it counts as newer.
  for (const { name, file } of listPackages) if (gone.includes(name)) await publish(name, file, "9.0.0");
  expect((await idv(["data", "update"], run)).stdout).toContain("updated: ");
  expect((await idv(["data", "update"], run)).stdout).toContain("up to date: ");
});

test("an update with popular domains is not installed without --force", async () => {
  const { publish, run } = registry();
  const popular = ["bbc.co.uk", "mit.edu", "chase.com", "siemens.com", "cnn.com", "wikipedia.org"];
  for (const { name, file } of listPackages)
    await publish(name, file, "9.0.0", name === "fakefilter" ? popular : []);
  const problem =
    "fakefilter 9.0.0: 6 popular domains would become disposable, such as bbc.co.uk, mit.edu, chase.com";
  expect(await idv(["data", "update"], run)).toEqual({
    ...{ code: 5, stdout: "" },
    stderr: `idv: ${problem}; the data in use is unchanged; if the lists are right, pass --force\n`,
  });
  const installed = join(run.home, "data/idv/disposable.bin");
  expect(existsSync(installed)).toBe(false);
  const forced = await idv(["data", "update", "--force"], run);
  expect(forced).toMatchObject({ code: 0, stdout: expect.stringMatching(/^updated: /) });
  expect(forced.stderr.startsWith(`idv: ${problem}; going on (--force)\n`), forced.stderr).toBe(true);
  expect(existsSync(installed)).toBe(true);
});
