/** The port from a run to what gives its items their verdicts: the charges of the offline engine, or batches for a service. */
import type { ScannedChunk } from "../../table/scan/scanned-chunk.js";
import type { WrittenRecords } from "../../table/writers/output.js";
import type { ChunkVerdicts } from "../blocks/block-classifier.js";
import type { Numbered } from "../item-ledger.js";

/** A chunk with the verdicts of the thread that has classified it. */
export interface ClassifiedChunk extends ChunkVerdicts {
  /** Its rows, rendered as if these verdicts were final; undefined if they are not. */
  readonly written: WrittenRecords | undefined;
  readonly chunk: () => ScannedChunk;
  /** Whether the input pauses after this chunk. If so, it is written as soon as it can be. */
  readonly isBeforePause?: boolean;
  readonly release?: () => void;
}

/** A chunk whose items are in the ledger. */
export type NumberedChunk = ClassifiedChunk & Numbered;

/** Settles the items of chunks. */
export interface Settler {
  /** Whether items may have other codes in the ledger than those that their thread has given them. */
  readonly differs: boolean;
  /** Called with the next chunk before its items are numbered, to say where marks are wanted. */
  expect?(chunk: ClassifiedChunk): Promise<void>;
  /** Takes the new items of the next chunk. Resolves when it has room for more. */
  add(chunk: NumberedChunk): Promise<void>;
  /** Returns a promise that resolves when all items added so far have their verdicts; it rejects if they get none. */
  settled(): Promise<void>;
  /** Settles what waits for more items, because the input has ended. */
  flush(): Promise<void>;
  /** Returns the number of rows of a chunk that have their verdicts, before all of them have. */
  settledRows(chunk: NumberedChunk): number;
  /**
   * Ends the use for a run that failed: nothing more is submitted, and the run over the next file may use the same ledger. Resolves
   * when what was submitted is settled.
   */
  abandon(): Promise<void>;
}
