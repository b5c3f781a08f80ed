/** Runs the command line over lists uploaded to the dashboard, each in its own folder. */
import { type ChildProcess, spawn } from "node:child_process";
import { rmSync } from "node:fs";
import { rm } from "node:fs/promises";
import { resolve } from "node:path";
import type { ListRunner } from "../../dashboard/list-job.js";
import { newPrivateFolder } from "../../files/temporary-files.js";
import { threadLoader } from "../../package/own-files.js";
import { isDatabase } from "../config/quota-location.js";

/** Longest time for the dry run over a list, in milliseconds. */
const lookMilliseconds = 120_000;
/** Heap limit of a child process, in MiB. */
const heapMebibytes = 512;

/**
 * Returns the runner. When this process ends, its runs end too; a kill leaves their folders until the next start.
 *
 * @param state path or URL of the state, whose keys are charged
 * @param mostBytes size of the largest list
 */
export function listRunner(state: string, mostBytes: number): ListRunner {
  const [, program] = process.argv;
  // In a program of a single file, this is the program again.
  const script = threadLoader === undefined ? [program!] : [];
  const location = isDatabase(state) ? state : resolve(state);
  const folders = new Set<string>();
  const children = new Set<ChildProcess>();
  process.once("exit", () => {
    for (const child of children) child.kill("SIGKILL");
    for (const folder of folders) rmSync(folder, { recursive: true, force: true });
  });
  return {
    mostBytes,
    lookMilliseconds,
    async newFolder() {
      const folder = await newPrivateFolder();
      folders.add(folder);
      return folder;
    },
    async removeFolder(folder) {
      await rm(folder, { recursive: true, force: true });
      folders.delete(folder);
    },
    start(args, folder, keyId) {
      const child = spawn(process.execPath, [...script, ...args], {
        cwd: folder,
        // The state may be a URL with a password, so it is not an argument.
        env: {
          ...process.env,
          NODE_OPTIONS: `${process.env["NODE_OPTIONS"] ?? ""} --max-old-space-size=${heapMebibytes}`,
          // Each list is a run of its own.
          IDV_RUN: undefined,
          ...(keyId !== undefined && { IDV_QUOTA: location, IDV_QUOTA_KEY: keyId }),
        },
        // The channel closes when this process is killed; then the run ends, too.
        stdio: ["ignore", "ignore", "pipe", "ipc"],
      });
      children.add(child);
      child.once("close", () => children.delete(child));
      return child;
    },
  };
}
