/** Writes to a sink in the background, so that the next bytes can be prepared meanwhile. */
import type { TableSink } from "../../../files/table-sink.js";

export class WriteBehind {
  readonly #sink: TableSink;
  #writing: Promise<void> = Promise.resolve();

  constructor(sink: TableSink) {
    this.#sink = sink;
  }

  /** Resolves when this write has started; `release` frees its memory. @throws the error of the previous write */
  async write(bytes: Uint8Array, release?: () => void, sink = this.#sink): Promise<void> {
    await this.#writing;
    this.#writing = sink.write(bytes).then(release);
    // The next `write()` or `flush()` rethrows the error.
    this.#writing.catch(() => {});
  }

  flush(): Promise<void> {
    return this.#writing;
  }
}
