/** Signals during a run: the first one ends it in order, a second one at once. Once the output is there, none matters. */
import { failureFor, Interrupted } from "../errors.js";

interface Interruption {
  /** Aborted by the first signal; the reason is an Interrupted, with which `interrupted` rejects. */
  readonly signal: AbortSignal;
  readonly interrupted: Promise<never>;
  /**
   * Ignores signals from now on, until this process ends: the run has done what it was to do, and whoever started it must learn
   * that.
   */
  readonly finish: () => void;
  readonly end: () => void;
}

const signals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
const ignore = () => {};

/** Whether a run of this process has ended well, and signals are ignored. */
export const isFinished = (): boolean => process.listeners("SIGTERM").includes(ignore);

/** @param output the unwritten file, for the message; undefined for standard output */
export function interruptible(output: string | undefined): Interruption {
  const controller = new AbortController();
  const interrupted = new Promise<never>((_, reject) => {
    controller.signal.addEventListener("abort", () => reject(controller.signal.reason));
  });
  // Keeps Node from reporting an unhandled rejection when the run no longer awaits it.
  interrupted.catch(() => {});
  const stop = (name: (typeof signals)[number]) => {
    const what = output === undefined ? "the output is not complete" : `${output} was not written`;
    const interruption = new Interrupted(name, `stopped by ${name}; ${what}`);
    if (controller.signal.aborted) process.exit(failureFor(interruption).exitCode);
    controller.abort(interruption);
  };
  const end = () => {
    for (const name of signals) process.removeListener(name, stop);
  };
  const finish = () => {
    end();
    for (const name of signals) if (!process.listeners(name).includes(ignore)) process.on(name, ignore);
  };
  for (const name of signals) process.removeListener(name, ignore).on(name, stop);
  return { signal: controller.signal, interrupted, finish, end };
}
