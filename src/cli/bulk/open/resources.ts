/** Owns what a run opens: closes it when the run ends, and discards outputs that must not appear. */
import type { TableSink } from "../../../files/output.js";

/** An output that can be discarded; without effect once it was committed. */
type Discardable = Pick<TableSink, "discard">;
type Close = (isInterrupted: boolean) => Promise<void>;

export class Resources {
  /** Aborted by the signal that ends the run. */
  readonly signal: AbortSignal;
  readonly #closes: Close[] = [];
  #ofFile: Discardable[] = [];
  #commit: Promise<void> | undefined;
  #isClosed = false;

  constructor(signal: AbortSignal) {
    this.signal = signal;
  }

  /** Calls a function when the run ends; at once if it has ended already. Later calls of the function must have no effect. */
  async atEnd(close: Close): Promise<void> {
    this.#closes.push(close);
    if (this.#isClosed) await close(true);
  }

  /** Discards an output of the file at hand unless it was committed. Returns it. */
  keep<Output extends Discardable>(output: Output): Output {
    this.#ofFile.push(output);
    return output;
  }

  /** Waits for the commit of the file at hand, which cannot be stopped once it has begun. */
  async commit(work: Promise<void>): Promise<void> {
    this.#commit = work;
    await work;
  }

  /** Returns whether the outputs of the file at hand have appeared, or are about to. */
  async isCommitted(): Promise<boolean> {
    return (
      (await this.#commit?.then(
        () => true,
        () => false,
      )) === true
    );
  }

  /** Forgets the file at hand, which is done. */
  startFile(): void {
    this.#ofFile = [];
    this.#commit = undefined;
  }

  /** Discards the outputs of the file at hand. */
  async discardFile(): Promise<void> {
    await Promise.all(this.#ofFile.map((output) => output.discard()));
  }

  /**
   * Closes everything.
   *
   * @param isInterrupted whether the user wants the program to end
   */
  async close(isInterrupted = false): Promise<void> {
    this.#isClosed = true;
    for (const close of this.#closes) await close(isInterrupted);
  }
}
