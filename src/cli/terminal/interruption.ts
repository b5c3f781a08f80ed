/** Signals during a run: the first one ends it in order, a second one at once. Once the output is there, none matters. */
import { failureFor, Interrupted } from "../errors.js";

interface Interruption {
  /** The reason is an Interrupted, with which `interrupted` rejects. */
  readonly signal: AbortSignal;
  readonly interrupted: Promise<never>;
  /** Ignores signals until this process ends: the run is done, and its starter must learn that. */
  readonly finish: () => void;
  readonly end: () => void;
}

export const signals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
const ignore = () => {};

export const isFinished = (): boolean => process.listeners("SIGTERM").includes(ignore);

/** `output` is unwritten, for the message; undefined for standard output. */
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
