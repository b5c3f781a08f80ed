/** Signals during a run: the first one ends it in order, a second one at once. */
import { failureFor, Interrupted } from "../errors.js";

/** The handling of signals during a run. */
interface Interruption {
  /** Aborted by the first signal, with an Interrupted as its reason. */
  readonly signal: AbortSignal;
  /** Rejects with that Interrupted. */
  readonly interrupted: Promise<never>;
  /** Restores the default handling of signals. */
  readonly end: () => void;
}

/**
 * Turns the first signal into an orderly end; a second one ends the process at once.
 *
 * @param output file that the run would write, for the message; undefined for standard output
 */
export function interruptible(output: string | undefined): Interruption {
  const controller = new AbortController();
  const interrupted = new Promise<never>((_, reject) => {
    controller.signal.addEventListener("abort", () => reject(controller.signal.reason));
  });
  // Keeps Node from reporting an unhandled rejection when nobody awaits it any more.
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
