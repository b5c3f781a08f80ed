/** Covers the package apart from its folder: the manual page of an installation, and what is not installed with it. */
import { execFileSync, spawnSync } from "node:child_process";
import { cpSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { linkSqlite } from "../../support/run-idv.js";
import { temporaryFolder } from "../../support/temporary-folder.js";

test.skipIf(process.platform === "win32")(
  "npm install -g puts the manual page where man looks for it",
  () => {
    const root = fileURLToPath(new URL("../../..", import.meta.url));
    const folder = temporaryFolder();
    // Without the dependencies, which npm would fetch, and the scripts.
    const { name, version, bin, man } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
    writeFileSync(join(folder, "package.json"), JSON.stringify({ name, version, bin, man }));
    for (const part of ["bin", "dist/man"]) cpSync(join(root, part), join(folder, part), { recursive: true });
    const npm = (...args: string[]) =>
      execFileSync("npm", [...args, "--offline", "--silent"], { cwd: folder, encoding: "utf8" });
    const tarball = npm("pack").trim();
    npm("install", "-g", "--prefix", join(folder, "installed"), `./${tarball}`);
    expect(readFileSync(join(folder, "installed/share/man/man1/idv.1"), "utf8")).toMatch(/^\.TH IDV 1 /m);
  },
);

test("without DuckDB, a Parquet file is refused with the command that installs it", () => {
  const root = fileURLToPath(new URL("../../..", import.meta.url));
  const folder = temporaryFolder();
  const parts = ["bin", "package.json", "dist/bundle", "dist/kernel", "dist/classifier"];
  for (const part of parts) cpSync(join(root, part), join(folder, part), { recursive: true });
  linkSqlite(folder);
  writeFileSync(join(folder, "l.parquet"), "PAR1 hello");
  writeFileSync(join(folder, "l.csv"), "email\na@b.net\n");
  for (const args of [["l.parquet"], ["l.csv", "-o", "o.parquet"]]) {
    const { status, stderr } = spawnSync(process.execPath, ["bin/idv.js", "emails", "-q", ...args], {
      cwd: folder,
      encoding: "utf8",
      env: { HOME: folder },
    });
    expect(status, stderr).toBe(2);
    expect(stderr).toBe(
      `idv: ${args.at(-1)}: Parquet needs DuckDB; install it beside idv: npm install @duckdb/node-api (with -g if idv is), or use CSV\n`,
    );
  }
});
