/** Runs the command line over lists that the dashboard has taken, each in a folder of its own. */
import { spawn } from "node:child_process";
import { resolve } from "node:path";
import type { ListRunner } from "../../dashboard/list-job.js";
import { newPrivateFolder } from "../../files/temporary-files.js";
import { isDatabase } from "../config/quota-place.js";

/**
 * Returns what the dashboard needs to run idv.
 *
 * @param state path or URL of the state, whose keys are charged
 * @param mostBytes size of the largest list
 */
export function listRunner(state: string, mostBytes: number): ListRunner {
  const [, program] = process.argv;
  const place = isDatabase(state) ? state : resolve(state);
  return {
    mostBytes,
    newFolder: newPrivateFolder,
    start: (args, folder, keyId) =>
      spawn(process.execPath, [program!, ...args], {
        cwd: folder,
        // The state may be a URL with a password, so it is not among the arguments.
        env: { ...process.env, ...(keyId !== undefined && { IDV_QUOTA: place, IDV_QUOTA_KEY: keyId }) },
        stdio: ["ignore", "ignore", "pipe"],
      }),
  };
}
