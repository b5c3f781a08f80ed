/**
 * Covers what the image of src/package/deploy/Dockerfile does, without an engine for containers: the binary of this machine with the
 * libraries that it names, alone below a folder (`chroot`), with the image's user, variables and commands. Needs root.
 */
import { execFileSync, spawn, spawnSync } from "node:child_process";
import { chmodSync, chownSync, copyFileSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { binaryOf } from "../../src/package/release/targets.mjs";
import { afterFile } from "../support/clean-up.js";
import { temporaryFolder } from "../support/temporary-folder.js";

const dockerfile = readFileSync(fileURLToPath(new URL("../../src/package/deploy/Dockerfile", import.meta.url)), "utf8");
/** Returns what follows a word at the start of a line: the last time, as in the image. */
const instruction = (word: string) => dockerfile.match(new RegExp(`^${word} (.*)$`, "gm"))!.at(-1)!;
const user = Number(/^USER (\d+)/.exec(instruction("USER"))![1]);
const variables = Object.fromEntries(
  instruction("ENV")
    .slice("ENV ".length)
    .split(" ")
    .map((pair) => pair.split("=")),
);
const list = (word: string) => JSON.parse(/\[.*\]/.exec(instruction(word))![0]) as string[];
const isPossible = process.getuid?.() === 0 && process.platform === "linux";

function image(): string {
  const root = temporaryFolder();
  chmodSync(root, 0o755);
  const copy = (from: string, to: string) => {
    mkdirSync(dirname(join(root, to)), { recursive: true });
    copyFileSync(from, join(root, to));
  };
  copy(binaryOf(), "usr/bin/idv");
  for (const [, path = ""] of execFileSync("ldd", [binaryOf()], { encoding: "utf8" }).matchAll(/(\/\S+) \(/g)) {
    copy(path, path);
  }
  for (const folder of ["var/lib/idv", "data", "tmp"]) {
    mkdirSync(join(root, folder), { recursive: true });
    chownSync(join(root, folder), user, user);
  }
  return root;
}

test.skipIf(!isPossible)("the image validates lists, serves, and knows whether it is ready", async () => {
  const root = image();
  const command = (...args: string[]) => [`--userspec=${user}:${user}`, root, ...list("ENTRYPOINT"), ...args];
  const settings = { env: variables, encoding: "utf8" } as const;
  const run = (...args: string[]) => spawnSync("/usr/sbin/chroot", command(...args), settings);
  expect(run(...list("CMD"))).toMatchObject({ status: 0, stdout: expect.stringContaining("Usage: idv") });

  writeFileSync(join(root, "data/list.csv"), "email\nann@larch-and-oak.com\na@mailinator.com\n");
  const checked = run("emails", "/data/list.csv", "-o", "/data/checked.csv", "-q");
  expect(checked).toMatchObject({ status: 0, stderr: "" });
  expect(readFileSync(join(root, "data/checked.csv"), "utf8")).toBe(
    "email,status\nann@larch-and-oak.com,ok\na@mailinator.com,disposable\n",
  );

  expect(run("keys", "create", "--name", "shop")).toMatchObject({ status: 0 });
  const [, ...health] = list("HEALTHCHECK");
  expect(run(...health)).toMatchObject({ status: 5 });
  const child = spawn("/usr/sbin/chroot", command("serve", "--host", "0.0.0.0"), { env: variables });
  afterFile(() => child.kill("SIGKILL"));
  await new Promise<void>((resolve) => {
    child.stderr.on("data", (chunk: Buffer) => {
      if (chunk.toString().includes("listening")) resolve();
    });
  });
  expect(run(...health)).toMatchObject({ status: 0, stderr: "" });
});

test("a binary names no folder of its builder, so that it is the same from any", () => {
  const root = fileURLToPath(new URL("../..", import.meta.url));
  expect(readFileSync(binaryOf()).includes(root)).toBe(false);
});
