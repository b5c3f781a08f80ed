/** Writes to a sink while the next bytes are being made: a write waits for the one before it only. */
import type { TableSink } from "../files/output.js";

export class WriteBehind {
  readonly #sink: TableSink;
  #writing: Promise<void> = Promise.resolve();

  constructor(sink: TableSink) {
    this.#sink = sink;
  }

  /**
   * Starts a write when the one before it is done.
   *
   * @param release called when the bytes are written and their memory may be used again
   * @param sink where to write, if not to the usual sink
   * @throws the error of the write before it
   */
  async write(bytes: Uint8Array, release?: () => void, sink = this.#sink): Promise<void> {
    await this.#writing;
    this.#writing = sink.write(bytes).then(release);
    // The next `write()` or `flush()` rethrows the error.
    this.#writing.catch(() => {});
  }

  /** Resolves when everything is written. */
  flush(): Promise<void> {
    return this.#writing;
  }
}
