// node test/mutations/mutate.mjs [WORD]
//
// Breaks one promise of idv at a time in a copy of the source, and runs the tests that should notice. A mutation that all of them
// pass has survived: that promise is held by no test. With WORD, only mutations whose promise has it.
import { execFileSync, spawnSync } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { mutations } from "./mutations.mjs";

const root = fileURLToPath(new URL("../..", import.meta.url));
const [word = ""] = process.argv.slice(2);
const folder = mkdtempSync(join(tmpdir(), "idv-mutate-"));
const vitest = "test/node_modules/vitest/vitest.mjs";
const say = (text) => process.stdout.write(`${text}\n`);
const run = (tool, ...args) =>
  spawnSync(process.execPath, [tool, ...args], { cwd: folder, encoding: "utf8", env: { ...process.env, CI: "" } });

try {
  const files = execFileSync("git", ["ls-files"], { cwd: root, encoding: "utf8" }).trim().split("\n");
  for (const file of files) cpSync(join(root, file), join(folder, file));
  cpSync(join(root, "dist"), join(folder, "dist"), { recursive: true });
  for (const each of ["node_modules", "test/node_modules"]) symlinkSync(join(root, each), join(folder, each));
  let survived = 0;
  for (const { promise, file, from, to, tests } of mutations.filter((each) => each.promise.includes(word))) {
    const path = join(folder, file);
    const before = readFileSync(path, "utf8");
    if (before.split(from).length !== 2) throw new Error(`${promise}: ${file} has to hold this once: ${from}`);
    writeFileSync(
      path,
      before.replace(from, () => to),
    );
    const isProgram = tests.some((test) => test.startsWith("test/program/"));
    const built = !isProgram || build();
    const { status } = built
      ? run(vitest, "run", "--config", "test/vitest.config.ts", "--mode", "all", "--bail", "1", ...tests)
      : { status: 1 };
    say(`${status === 0 ? "SURVIVED" : built ? "killed  " : "no build"}  ${promise}`);
    if (status === 0 || !built) survived++;
    writeFileSync(path, before);
    if (isProgram) build();
  }
  say(survived === 0 ? "no mutation survived" : `${survived} survived`);
  process.exitCode = survived === 0 ? 0 : 1;
} finally {
  rmSync(folder, { recursive: true, force: true });
}

/** Builds what the program needs besides the kernel and the data. Returns whether that worked. */
function build() {
  return (
    run("node_modules/typescript/bin/tsc", "-p", ".config/tsconfig.build.json").status === 0 &&
    run("src/package/bundle.mjs").status === 0
  );
}
