import type { TableSink } from "../files/output.js";

/** Writes while the next bytes are being made: a write waits for the one before it only. */
export class WriteBehind {
  readonly #sink: TableSink;
  #writing: Promise<void> = Promise.resolve();

  constructor(sink: TableSink) {
    this.#sink = sink;
  }

  /**
   * @param sink where to, if it is not the usual one
   * @param release called when the bytes are written and their memory may be used again
   * @throws what the write before it threw
   */
  async write(bytes: Uint8Array, release?: () => void, sink = this.#sink): Promise<void> {
    await this.#writing;
    this.#writing = sink.write(bytes).then(release);
    // Whoever writes next or flushes gets to know.
    this.#writing.catch(() => {});
  }

  /** All is written when it resolves. */
  flush(): Promise<void> {
    return this.#writing;
  }
}
