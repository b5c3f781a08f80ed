/** Writes an archive while its changed parts come. */
import { PassThrough } from "node:stream";
import { converting, type TableSink, writeAll } from "../../files/table-sink.js";
import type { ChangedPart } from "./archive.js";

/** `written` rejects when the archive cannot be written. All bytes are in parts; those of `last` come at the end. */
export function rebuiltInto(
  sink: TableSink,
  rebuild: (changes: AsyncIterable<ChangedPart>) => AsyncIterable<Uint8Array>,
  last: () => Iterable<ChangedPart> = () => [],
) {
  const changes = new PassThrough({ objectMode: true, highWaterMark: 1 });
  changes.on("error", () => {});
  const written = writeAll(rebuild(changes), sink);
  written.catch((error: Error) => changes.destroy(error));
  const converted = converting(sink, {
    write: async () => {},
    end() {
      for (const part of last()) changes.write(part);
      changes.end();
      return written;
    },
    async stop() {
      changes.destroy();
      await written.catch(() => {});
    },
  });
  return { ...converted, written, add: (part: ChangedPart): void => void changes.write(part) };
}
