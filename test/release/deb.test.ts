/** Covers the package for Debian: made, installed below a folder, used and removed. Needs the binary of this machine. */
import { execFileSync, spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { beforeAll, describe, expect, test } from "vitest";
import { temporaryFolder } from "../support/temporary-folder.js";

const root = fileURLToPath(new URL("../..", import.meta.url));
const hasDpkg = spawnSync("dpkg-deb", ["--version"]).status === 0;
const hasSystemd = spawnSync("systemd-analyze", ["--version"]).status === 0;

describe.skipIf(!hasDpkg)("the package for Debian", () => {
  const made = () =>
    execFileSync(process.execPath, ["src/package/release/build-deb.mjs"], { cwd: root, encoding: "utf8" });
  let path = "";
  beforeAll(() => {
    path = /^\S+\.deb/.exec(made())![0];
  });
  const system = temporaryFolder();
  const dpkg = (...args: string[]) =>
    execFileSync("dpkg", [`--root=${system}`, "--force-not-root,script-chrootless,depends", ...args], {
      encoding: "utf8",
      stdio: ["ignore", "pipe", "ignore"],
    });
  const installed = (name: string) => join(system, name);

  test("comes out the same whenever it is made", () => {
    const first = readFileSync(path);
    made();
    expect(readFileSync(path).equals(first)).toBe(true);
  });

  test("installs the program, which runs without anything else", () => {
    mkdirSync(installed("var/lib/dpkg/updates"), { recursive: true });
    mkdirSync(installed("var/lib/dpkg/info"), { recursive: true });
    for (const name of ["status", "available"]) writeFileSync(installed(`var/lib/dpkg/${name}`), "");
    dpkg("--install", path);
    const home = temporaryFolder();
    cpSync(join(root, "fixtures/signups.csv"), join(home, "signups.csv"));
    const output = execFileSync(installed("usr/bin/idv"), ["emails", "signups.csv", "-q"], {
      cwd: home,
      env: { HOME: home },
      encoding: "utf8",
    });
    expect(output).toContain("3,x7k2@mailinator.com,free,disposable\n");
  });

  test("brings the manual page, and completions that shells load", () => {
    const page = spawnSync("zcat", [installed("usr/share/man/man1/idv.1.gz")], { encoding: "utf8" }).stdout;
    expect(page).toMatch(/^\.TH IDV 1 /m);
    const script = `source '${installed("usr/share/bash-completion/completions/idv")}'; complete -p idv`;
    const bash = spawnSync("bash", ["-c", script], { encoding: "utf8" });
    expect(bash).toMatchObject({ status: 0, stderr: "", stdout: expect.stringContaining("idv") });
  });

  test.skipIf(!hasSystemd)("brings units that systemd accepts", () => {
    const folder = installed("usr/lib/systemd/system");
    const units = readdirSync(folder).map((name) => join(folder, name.replace("@.", "@srv-list.csv.")));
    for (const name of readdirSync(folder)) {
      // Where the program is on the system.
      const text = readFileSync(join(folder, name), "utf8");
      writeFileSync(
        join(folder, name.replace("@.", "@srv-list.csv.")),
        text.replaceAll("/usr/bin/idv", installed("usr/bin/idv")),
      );
    }
    const { status, stderr } = spawnSync("systemd-analyze", ["verify", "--man=no", ...units], { encoding: "utf8" });
    expect({ status, stderr: stderr.split("\n").filter((line) => line.includes("idv")) }).toEqual({
      status: 0,
      stderr: [],
    });
    for (const unit of units) if (unit.includes("@srv")) execFileSync("rm", [unit]);
  });

  test.skipIf(!hasSystemd)("brings services that can do little harm", () => {
    const folder = installed("usr/lib/systemd/system");
    for (const [name, instance = name] of [["idv.service"], ["idv-clean@.service", "idv-clean@srv-list.csv.service"]]) {
      const unit = join(temporaryFolder(), instance!);
      cpSync(join(folder, name!), unit);
      // From 0 to 10: lower is better.
      const { stdout } = spawnSync("systemd-analyze", ["security", "--offline=true", "--threshold=30", unit], {
        encoding: "utf8",
      });
      const [, level = ""] = /exposure level for \S+: ([\d.]+)/.exec(stdout) ?? [];
      expect(Number(level), stdout).toBeGreaterThan(0);
      expect(Number(level), stdout).toBeLessThan(3);
    }
  });

  test("takes what is enabled with it when it is removed, and its state when it is purged", () => {
    const wants = "etc/systemd/system/sockets.target.wants";
    mkdirSync(installed(wants), { recursive: true });
    symlinkSync("/usr/lib/systemd/system/idv.socket", installed(`${wants}/idv.socket`));
    symlinkSync("/usr/lib/systemd/system/ssh.socket", installed(`${wants}/ssh.socket`));
    mkdirSync(installed("var/lib/private/idv"), { recursive: true });
    dpkg("--remove", "idv");
    expect(existsSync(installed("usr"))).toBe(false);
    expect(readdirSync(installed(wants))).toEqual(["ssh.socket"]);
    expect(readdirSync(installed("var/lib/private"))).toEqual(["idv"]);
    dpkg("--install", path);
    dpkg("--purge", "idv");
    expect(readdirSync(installed("var/lib/private"))).toEqual([]);
  });
});
