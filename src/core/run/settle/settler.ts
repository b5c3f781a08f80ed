/** The port from a run to the source of its verdicts: the charges of the offline engine, or batches for a service. */
import type { ScannedChunk } from "../../table/scan/scanned-chunk.js";
import type { WrittenRecords } from "../../table/writers/output.js";
import type { ChunkVerdicts } from "../blocks/chunk-verdicts.js";
import type { Numbered } from "../item-ledger.js";

export interface ClassifiedChunk extends ChunkVerdicts {
  /** The rendered rows, valid unless the quota ends; undefined if a service or DNS may change the verdicts. */
  readonly written: WrittenRecords | undefined;
  readonly chunk: () => ScannedChunk;
  readonly isBeforePause?: boolean;
  /** Share of the input up to the end of this chunk, from 0 to 1, about; undefined when it is not known. */
  readonly share?: number | undefined;
  readonly release?: () => void;
}

export type NumberedChunk = ClassifiedChunk & Numbered;

export interface Settler {
  readonly differs: boolean;
  /** Takes the new items of the next chunk. Resolves when there is room for more. */
  add(chunk: NumberedChunk): Promise<void>;
  /** Resolves when all items added so far have their verdicts; rejects if they get none. */
  settled(): Promise<void>;
  flush(): Promise<void>;
  settledRows(chunk: NumberedChunk): number;
  written?(chunk: NumberedChunk): Promise<void>;
  /** After a failure: submits nothing more, resolves when submitted items are settled. The ledger may be used again. */
  abandon(): Promise<void>;
}
