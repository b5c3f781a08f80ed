/** Owns what a run opens: closes it when the run ends, and discards outputs that must not appear. */
import { setTimeout as sleep } from "node:timers/promises";
import type { Fault } from "../../../fault.js";
import { PrivateCopies } from "../../../files/private-copy.js";
import type { TableSink } from "../../../files/table-sink.js";

type Discardable = Pick<TableSink, "discard">;
type Close = (isInterrupted: boolean) => Promise<void>;

/** In milliseconds: how long the end of a run waits for an output that is being opened. */
const mostOpening = 1000;

function whenOpened<Opened>(opening: Promise<Opened>, outputOf: (opened: Opened) => Discardable): Discardable {
  const discarded = async () => outputOf(await opening).discard();
  // A named pipe without a reader never opens.
  const late = () => sleep(mostOpening, undefined, { ref: false });
  return { discard: () => Promise.race([discarded().catch(() => {}), late()]) };
}

export class Resources {
  /** Called before outputs appear, and after they have appeared. */
  delivery: { readonly secure?: () => Promise<void>; readonly deliver?: () => Promise<void> } = {};
  /** Called before the last output appears: from then on, the run has ended well. */
  onAppear: () => void = () => {};
  /** Of parts of archives: the other tables are validated all the same. */
  readonly faults: Fault[] = [];
  readonly copies = new PrivateCopies((remove) => this.atEnd(remove));
  readonly #closes: Close[] = [];
  #ofFile: Discardable[] = [];
  #commit: Promise<unknown> | undefined;
  #isClosed = false;
  #isDiscarded = false;

  constructor(readonly signal: AbortSignal) {}

  /** Calls `close`, which may be called again without effect, when the run ends; at once if it has ended. */
  async atEnd(close: Close): Promise<void> {
    this.#closes.push(close);
    if (this.#isClosed) await close(true);
  }

  /** Discards an output of the current file unless it is committed; at once if the file is over, as after a signal. */
  keep<Output extends Discardable>(output: Output): Output {
    this.#ofFile.push(output);
    if (this.#isDiscarded) void output.discard();
    return output;
  }

  /** Discards an output that is being opened, too: its file may be there already. */
  async open<Opened>(opening: Promise<Opened>, outputOf: (opened: Opened) => Discardable): Promise<Opened> {
    this.keep(whenOpened(opening, outputOf));
    return opening;
  }

  /** The same for an output of several files. */
  async openForAll<Output extends Discardable>(opening: Promise<Output>): Promise<Output> {
    await this.atEnd(() => whenOpened(opening, (output) => output).discard());
    return opening;
  }

  /** Call before outputs appear, which cannot be stopped. `isSecured` makes sure of their charge. @throws UnitsLost */
  async appear(isSecured = true): Promise<void> {
    this.signal.throwIfAborted();
    if (isSecured) await this.delivery.secure?.();
    this.signal.throwIfAborted();
    this.onAppear();
  }

  /** Waits for a commit, which cannot be stopped. Unless `appears`, outputs come later, with those of other tables. */
  async commit<Result>(work: Promise<Result>, appears: boolean): Promise<Result> {
    const delivered = work.then(async (result) => {
      if (appears) await this.delivery.deliver?.();
      return result;
    });
    this.#commit = delivered;
    return delivered;
  }

  async isCommitted(): Promise<boolean> {
    const [outcome] = await Promise.allSettled([this.#commit ?? Promise.reject()]);
    return outcome.status === "fulfilled";
  }

  startFile(): void {
    this.#isDiscarded = false;
    this.#ofFile = [];
    this.#commit = undefined;
  }

  async discardFile(): Promise<void> {
    this.#isDiscarded = true;
    await Promise.all(this.#ofFile.map((output) => output.discard()));
  }

  async close(isInterrupted = false): Promise<void> {
    this.#isClosed = true;
    for (const close of this.#closes) await close(isInterrupted);
  }
}
