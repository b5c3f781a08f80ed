/** The port from a run to the source of its verdicts: the charges of the offline engine, or batches for a service. */
import type { ScannedChunk } from "../../table/scan/scanned-chunk.js";
import type { WrittenRecords } from "../../table/writers/output.js";
import type { ChunkVerdicts } from "../blocks/chunk-verdicts.js";
import type { Numbered } from "../item-ledger.js";

export interface ClassifiedChunk extends ChunkVerdicts {
  /** The rendered rows, valid unless the quota ends; undefined if a service or DNS may change the verdicts. */
  readonly written: WrittenRecords | undefined;
  readonly chunk: () => ScannedChunk;
  /** Whether the input pauses after this chunk, which is then written as soon as possible. */
  readonly isBeforePause?: boolean;
  /** Share of the input up to the end of this chunk, from 0 to 1, about; undefined when it is not known. */
  readonly share?: number | undefined;
  readonly release?: () => void;
}

export type NumberedChunk = ClassifiedChunk & Numbered;

export interface Settler {
  /** Whether the ledger may have other codes for items than their thread has given them. */
  readonly differs: boolean;
  /** Takes the new items of the next chunk. Resolves when there is room for more. */
  add(chunk: NumberedChunk): Promise<void>;
  /** Resolves when all items added so far have their verdicts; rejects if they get none. */
  settled(): Promise<void>;
  /** Called at the end of the input: settles items that wait for more. */
  flush(): Promise<void>;
  settledRows(chunk: NumberedChunk): number;
  /** Called when the rows of a chunk have been written. */
  written?(chunk: NumberedChunk): Promise<void>;
  /**
   * Called when a run has failed: nothing more is submitted, and the run over the next file may use the same ledger. Resolves
   * when submitted items are settled.
   */
  abandon(): Promise<void>;
}
