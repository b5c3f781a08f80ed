/** Starts the threads of idv. Apart from the pool of them, which is in browsers, too: bundlers would look for the module. */
import { Worker } from "node:worker_threads";
import { expectLongRun, threadLoader } from "./own-files.js";

/** Starts `worker.js`, which lies beside a module; in the program, through its loader. */
export function startThread(module: string, workerData: unknown): Worker {
  expectLongRun();
  const path = new URL("worker.js", module);
  return threadLoader === undefined
    ? new Worker(path, { workerData })
    : new Worker(threadLoader, { eval: true, argv: [path.href], workerData });
}
