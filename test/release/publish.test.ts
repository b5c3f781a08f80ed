/**
 * Rehearses a release: each step of publish.mjs against a registry and a repository of this machine, once with a failure in the
 * middle and again after it, and what set-repository.mjs puts into the files before the first one.
 */
import { execFile, execFileSync } from "node:child_process";
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { beforeAll, expect, test } from "vitest";
import { afterFile } from "../support/clean-up.js";
import { servePackages } from "../support/package-registry.js";
import { temporaryFolder } from "../support/temporary-folder.js";

const execute = promisify(execFile);
const root = fileURLToPath(new URL("../..", import.meta.url));
const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as { version: string };
const read = (...path: string[]) => readFileSync(join(...path), "utf8");

/** A copy of the project with the packages of a release. */
function copyProject(): string {
  const folder = temporaryFolder();
  const files = [".github/CODEOWNERS", "package.json", "CHANGELOG.md", "README.md"];
  for (const path of [...files, "src/package", "dist/packages"]) {
    cpSync(join(root, path), join(folder, path), { recursive: true });
  }
  cpSync(join(root, "dist/packages"), join(folder, "dist/release"), { recursive: true });
  symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));
  return folder;
}

beforeAll(() => void execFileSync(process.execPath, [join(root, "src/package/release/build-packages.mjs")]));

/** Runs a step in a project. Returns its exit code. */
async function publish(project: string, step: readonly string[], variables: Record<string, string> = {}) {
  const env = { PATH: process.env["PATH"], HOME: project, ...variables };
  const script = join(project, "src/package/release/publish.mjs");
  return execute(process.execPath, [script, ...step], { cwd: project, env }).then(
    () => 0,
    ({ code }) => code as number,
  );
}

test("packages are published in order, and after a failure only those that are missing", async () => {
  const project = copyProject();
  const registry = await servePackages([]);
  afterFile(() => registry.close());
  const host = registry.url.slice("http:".length);
  writeFileSync(join(project, ".npmrc"), `registry=${registry.url}\n${host}:_authToken=none\n`);
  registry.refused.add("@idv/native-linux-x64");
  expect(await publish(project, ["npm"])).not.toBe(0);
  const first = registry.tarballs();
  expect(first.length).toBeGreaterThan(0);
  expect(first).not.toContain(`idv-${version}.tgz`);
  registry.refused.clear();
  expect(await publish(project, ["npm"])).toBe(0);
  const all = registry.tarballs();
  expect(all.slice(0, first.length)).toEqual(first);
  expect(all.at(-1)).toBe(`idv-${version}.tgz`);
  expect(all).toHaveLength(readdirSync(join(project, "dist/release")).length);
  expect(await publish(project, ["npm"])).toBe(0);
});

test("the action runs from the tags of its version and of its major version, also after a second try", async () => {
  const [project, remote, checkout] = [copyProject(), temporaryFolder(), temporaryFolder()];
  execFileSync("git", ["init", "--bare", "--quiet", remote]);
  const pushed = () => execFileSync("git", ["show-ref"], { cwd: remote, encoding: "utf8" });
  expect(await publish(project, ["action", remote])).toBe(0);
  const first = pushed();
  expect(await publish(project, ["action", remote])).toBe(0);
  expect(pushed()).toBe(first);
  const tags = execFileSync("git", ["tag"], { cwd: remote, encoding: "utf8" }).trim().split("\n");
  expect(tags).toEqual([`action-v${version}`, `v${version.split(".")[0]}`]);
  for (const tag of tags) {
    rmSync(checkout, { recursive: true });
    execFileSync("git", ["clone", "--quiet", "--branch", tag, remote, checkout], { stdio: "ignore" });
    const main = /main: (\S+)/.exec(read(checkout, "action.yml"))![1]!;
    const list = join(checkout, "list.csv");
    writeFileSync(list, "email\na@mailinator.com\n");
    const inputs = { INPUT_FILES: list, "INPUT_FAIL-ON": "none", GITHUB_OUTPUT: join(checkout, "outputs") };
    const env = { PATH: process.env["PATH"], HOME: checkout, ...inputs };
    await execute(process.execPath, [join(checkout, main)], { cwd: checkout, env });
    expect(read(checkout, "outputs")).toMatch(/^disposable=1$/m);
  }
});

test("a release has the notes of its version, and takes its files at a second try", async () => {
  const [project, store] = [copyProject(), temporaryFolder()];
  writeFileSync(
    join(project, "CHANGELOG.md"),
    `# Changelog\n\n## 9.9.9 (not released yet)\n\nmore\n\n## ${version} (2026-01-02)\n\nwhat is new\n\n## 0.0.1 (2026-01-01)\n\nold\n`,
  );
  // What the program of GitHub does: a release is created once, and its files may be put there again.
  const gh = `#!/bin/sh
set -e
case "$2" in
  view) test -d "$STORE/$3" ;;
  create) mkdir "$STORE/$3"; printf %s "$9" > "$STORE/$3.md" ;;
  upload) test -f "$STORE/works"; shift 4; cp "$@" "$STORE"/v*/ ;;
esac
`;
  const bin = join(project, "bin");
  mkdirSync(bin);
  writeFileSync(join(bin, "gh"), gh, { mode: 0o755 });
  const variables = { STORE: store, PATH: `${bin}${delimiter}${process.env["PATH"]}` };
  expect(await publish(project, ["github"], variables)).not.toBe(0);
  expect(read(store, `v${version}.md`)).toBe("what is new\n\n");
  writeFileSync(join(store, "works"), "");
  expect(await publish(project, ["github"], variables)).toBe(0);
  expect(readdirSync(join(store, `v${version}`))).toEqual(readdirSync(join(project, "dist/release")));
});

test("the place of the repository and the author stand in every file that names them", () => {
  const project = copyProject();
  const script = join(project, "src/package/release/set-repository.mjs");
  execFileSync(process.execPath, [script, "larch/oak", "Ann Lee"]);
  for (const path of [".github/CODEOWNERS", "package.json", "README.md", "src/package/action/action.yml"]) {
    expect(read(project, path)).not.toContain("OWNER");
  }
  for (const name of readdirSync(join(project, "src/package/deploy/kubernetes"))) {
    expect(read(project, "src/package/deploy/kubernetes", name)).not.toContain("OWNER");
  }
  expect(read(project, "README.md")).toContain("- uses: larch/oak@v");
});
