/** Signals during a run: the first one ends it in order, a second one at once. */
import { failureFor, Interrupted } from "../errors.js";

interface Interruption {
  /** Aborted by the first signal; the reason is an Interrupted, with which `interrupted` rejects. */
  readonly signal: AbortSignal;
  readonly interrupted: Promise<never>;
  readonly end: () => void;
}

/** @param output the unwritten file, for the message; undefined for standard output */
export function interruptible(output: string | undefined): Interruption {
  const controller = new AbortController();
  const interrupted = new Promise<never>((_, reject) => {
    controller.signal.addEventListener("abort", () => reject(controller.signal.reason));
  });
  // Keeps Node from reporting an unhandled rejection when the run no longer awaits it.
  interrupted.catch(() => {});
  const signals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
  const stop = (name: (typeof signals)[number]) => {
    const what = output === undefined ? "the output is not complete" : `${output} was not written`;
    const interruption = new Interrupted(name, `stopped by ${name}; ${what}`);
    if (controller.signal.aborted) process.exit(failureFor(interruption).exitCode);
    controller.abort(interruption);
  };
  const end = () => {
    for (const name of signals) process.removeListener(name, stop);
  };
  for (const name of signals) process.on(name, stop);
  return { signal: controller.signal, interrupted, end };
}
