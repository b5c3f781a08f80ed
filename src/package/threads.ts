/** Starts the threads of idv. Apart from the pool of them, which is in browsers, too: bundlers would look for the module. */
import { Worker } from "node:worker_threads";
import { expectLongRun, threadLoader } from "./own-files.js";

const prepared = new Set<Worker>();

/** Starts `worker.js`, which lies beside a module; in the program, through its loader. Its input is its first message. */
export function startThread(module: string, input: unknown): Worker {
  const [ready] = prepared;
  const worker = ready ?? newThread(module);
  prepared.delete(worker);
  worker.ref();
  worker.postMessage(input);
  return worker;
}

/** Starts a thread whose input is not known yet: its start takes as long as to validate 300,000 rows. */
export function prepareThread(module: string): void {
  const worker = newThread(module);
  worker.unref();
  worker.on("error", () => prepared.delete(worker));
  prepared.add(worker);
}

function newThread(module: string): Worker {
  expectLongRun();
  const path = new URL("worker.js", module);
  if (threadLoader === undefined) return new Worker(path);
  // The loader finds the command where it is on the command line.
  return new Worker(threadLoader, { eval: true, argv: [process.argv[2] ?? "", path.href] });
}
