/** Covers the ways in which npm installs idv: by its name, without what is optional, for one command, and from its repository. */
import { execFile } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { beforeAll, describe, expect, test } from "vitest";
import { afterFile } from "../../support/clean-up.js";
import { serveOwnPackages } from "../../support/install-package.js";
import { temporaryFolder } from "../../support/temporary-folder.js";
import { testFull } from "../../support/tier.js";

const execute = promisify(execFile);
const root = fileURLToPath(new URL("../../..", import.meta.url));
/** Whether this Node.js has no SQLite that is safe, so that the native package is needed. */
const needsNative = Number(process.versions.node.split(".")[0]) < 22;

/** Runs a program in a folder that is its home, too. */
async function run(folder: string, program: string, ...args: string[]) {
  const env = { PATH: process.env["PATH"], HOME: folder, NO_UPDATE_NOTIFIER: "1" };
  const options = { cwd: folder, env, encoding: "utf8" } as const;
  return execute(program, args, options).then(
    (output) => ({ code: 0, ...output }),
    ({ code, stdout, stderr }) => ({ code, stdout, stderr }),
  );
}

function emptyProject(): string {
  const folder = temporaryFolder();
  writeFileSync(join(folder, "package.json"), "{}");
  writeFileSync(join(folder, "list.csv"), "email\nann@larch-and-oak.com\na@mailinator.com\n");
  return folder;
}

const sample = `
import { type Classification, classifyEmail, createClassifier, createClient } from "idv";
import { type CheckedTable, loadTables, validateTable } from "idv/browser";
import { loadTables as loadSmall } from "idv/browser/small";
export const verdict: Classification = classifyEmail("a@b.net", { form: "strict" });
export const classifier = createClassifier({ deny: ["b.net"] });
export const client = createClient({ baseUrl: "https://validation.example.com", apiKey: "key" });
export async function check(list: Blob): Promise<CheckedTable> {
  await Promise.all([loadTables("/tables/"), loadSmall()]);
  return validateTable(list, { explain: true });
}
`;

const checked = "email,status\nann@larch-and-oak.com,ok\na@mailinator.com,disposable\n";

describe.skipIf(!process.env["IDV_TEST_PACKAGE"])("npm", () => {
  const npm = ["--no-audit", "--no-fund"];
  beforeAll(async () => {
    const registry = await serveOwnPackages();
    afterFile(() => registry.close());
    npm.push("--registry", registry.url);
  });

  test("installs idv with what it runs, and nothing else", async () => {
    const folder = dirname(dirname(dirname(dirname(process.env["IDV_TEST_PROGRAM"]!))));
    const readme = readFileSync(join(folder, "node_modules/idv/README.md"), "utf8");
    expect(readme).not.toMatch(/\bclone\b|npm ci|fixtures/);
    const { code, stdout } = await run(folder, "npm", "ls", "--all", "--parseable");
    expect(code).toBe(0);
    const names = stdout.trim().split("\n").slice(1);
    const own = `@idv/native-${process.platform}-${process.arch}`;
    const bundled = ["@cloudpss/zstd", "@photostructure/sqlite", "node-gyp-build"];
    const native = [own, ...bundled.map((name) => `${own}/node_modules/${name}`)];
    const found = names.map((path: string) => path.slice(join(folder, "node_modules/").length));
    expect(found.sort()).toEqual([...(needsNative ? native : []), "idv", "undici"]);
  });

  test("gives its types to projects that are strict and have no types of Node.js", async () => {
    const folder = dirname(dirname(dirname(dirname(process.env["IDV_TEST_PROGRAM"]!))));
    writeFileSync(join(folder, "sample.ts"), sample);
    const options = ["--strict", "--exactOptionalPropertyTypes", "--skipLibCheck", "false", "--types", ""];
    const target = ["--module", "nodenext", "--target", "es2022", "--lib", "es2023,dom,dom.asynciterable"];
    const compiler = join(root, "node_modules/.bin/tsc");
    expect(await run(folder, compiler, "--ignoreConfig", "--noEmit", ...options, ...target, "sample.ts")).toMatchObject(
      { code: 0, stdout: "" },
    );
  });

  test("installs idv without its optional packages, which then counts only where it can", async () => {
    const folder = emptyProject();
    const idv = join(folder, "node_modules/.bin/idv");
    await run(folder, "npm", "install", "idv", "--omit=optional", ...npm);
    const found = await run(folder, idv, "emails", "list.csv");
    expect(found, found.stderr).toMatchObject({ code: 0, stdout: checked });
    const limit = await run(folder, idv, "quota", "set", "--limit", "1");
    if (!needsNative) return expect(limit.code).toBe(0);
    const missing = `there is no SQLite for Node.js ${process.versions.node}; install @idv/native-${process.platform}-${process.arch}, or use Node.js 22.22.3, 24.15 or newer`;
    expect(found.stderr).toContain(`idv: ${missing}; no limit is set, so units are not counted\n`);
    expect(limit).toMatchObject({ code: 6, stderr: `idv: ${missing}\n` });
    const doctor = await run(folder, idv, "doctor");
    expect(doctor.code).toBe(2);
    expect(doctor.stdout + doctor.stderr).toMatch(new RegExp(`quota\\.db: cannot be created: ${missing}$`, "m"));
    writeFileSync(join(folder, "quota.db"), "");
    const named = await run(folder, idv, "emails", "list.csv", "-q", "--quota", "quota.db");
    expect(named).toMatchObject({ code: 6, stderr: `idv: ${missing}\n` });
  });

  testFull("runs a command without installing idv", async () => {
    const folder = emptyProject();
    const found = await run(folder, "npx", "--yes", ...npm, "idv", "check", "a@mailinator.com");
    expect(found, found.stderr).toMatchObject({ code: 0, stdout: expect.stringContaining("disposable") });
  });
});

testFull("npm builds idv when it installs it from its repository", async () => {
  const [folder, bare] = [emptyProject(), temporaryFolder()];
  await execute("git", ["clone", "--bare", "--quiet", root, bare]);
  const options = ["--no-audit", "--no-fund", "--prefer-offline"];
  const installed = await run(folder, "npm", "install", `git+file://${bare}`, ...options);
  expect(installed.code, installed.stderr).toBe(0);
  const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  expect((await run(folder, "npx", "idv", "--version")).stdout).toContain(version);
  expect(await run(folder, "npx", "idv", "emails", "list.csv")).toMatchObject({ code: 0, stdout: checked });
});
