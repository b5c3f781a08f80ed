/** Runs the command line over the lists of the service. A list that is too large takes only its own process. */
import type { ChildProcess } from "node:child_process";
import { resolve } from "node:path";
import { startProgram } from "../../child-program.js";
import { processTag } from "../../files/processes.js";
import type { ListRunner } from "../../server/lists/list-processes.js";
import { isDatabase } from "../config/quota-location.js";
import { ownProgram } from "./own-program.js";

const lookMilliseconds = 120_000;
const heapMebibytes = 512;

/** When this process ends, its runs end too. The keys of `state`, a path or a URL, are charged. */
export function listRunner(state: string): ListRunner {
  const own = ownProgram();
  const location = isDatabase(state) ? state : resolve(state);
  const children = new Set<ChildProcess>();
  process.once("exit", () => {
    for (const child of children) child.kill("SIGKILL");
  });
  return {
    lookMilliseconds,
    start(args, folder, charge) {
      const child = startProgram(own, args, {
        cwd: folder,
        // The state may be a URL with a password, so it is not an argument.
        env: {
          ...process.env,
          NODE_OPTIONS: `${process.env["NODE_OPTIONS"] ?? ""} --max-old-space-size=${heapMebibytes}`,
          IDV_RUN: charge?.run,
          IDV_RESERVATION: charge && `${charge.reservation} ${processTag()}`,
          ...(charge && { IDV_QUOTA: location, IDV_QUOTA_KEY: charge.keyId }),
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
