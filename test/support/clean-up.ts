/**
 * What has to be ended or removed after the tests of a file. Workers keep their modules, so an `afterAll` in one of them would
 * run after the first file only.
 */
import { ChildProcess } from "node:child_process";

const cleanUps: (() => unknown)[] = [];
const children = new Set<ChildProcess>();

/** Calls a function after the tests of the file, the last one first. */
export function afterFile(cleanUp: () => unknown): void {
  cleanUps.push(cleanUp);
}

/** Calls all of them, and ends the processes that tests have left, such as one that has run out of time. */
export async function cleanUpFile(): Promise<void> {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp();
  endChildren();
}

function endChildren(): void {
  for (const child of children) child.kill("SIGKILL");
}

/** Ends the processes that this one starts, however it ends itself: a run of the tests that is interrupted leaves none. */
export function endChildrenAtEnd(): void {
  const prototype = ChildProcess.prototype as unknown as { spawn(options: unknown): unknown };
  const { spawn } = prototype;
  prototype.spawn = function (this: ChildProcess, options: unknown) {
    children.add(this);
    this.once("exit", () => children.delete(this)).once("error", () => children.delete(this));
    return spawn.call(this, options);
  };
  // The process that runs the tests is gone: there is nobody to report to.
  process.on("exit", endChildren).on("disconnect", () => process.exit(1));
  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    process.once(signal, () => {
      endChildren();
      process.kill(process.pid, signal);
    });
  }
}
