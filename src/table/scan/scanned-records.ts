/** Reads a table with the scanner: finds the header, and gives the records below it as chunks or as blocks of bytes. */
import type { BadRowListener } from "../bad-rows.js";
import type { RecordStream, TableShape } from "../records.js";
import type { ItemTest } from "../sniff/item-profile.js";
import type { WriteTarget } from "../writers/record-writer.js";
import { type Block, blocksOf } from "./blocks.js";
import { ChunkAssembler } from "./chunk-assembler.js";
import type { ScannedChunk } from "./scanned-chunk.js";

/** A stream of records, with access to their bytes if the scanner reads the table. */
export interface ScannableStream extends RecordStream {
  readonly scanned?: ScannedTable;
}

/**
 * A table that the scanner reads, for callers that work on the bytes of its records. Its records can be read once:
 * either from `first`, `blocks` and `assembler`, or from `chunks`.
 */
export interface ScannedTable {
  readonly shape: TableShape;
  /** What is written. */
  readonly target: WriteTarget;
  readonly onBadRow: BadRowListener;
  /** The header; no records if the table has none. */
  readonly header: ScannedChunk;
  /** Records below the header that were read along with it. */
  readonly first: ScannedChunk;
  /**
   * Bytes that follow `first`. Blocks end after a line ending, which is not always the end of a record. Each is valid
   * until the next one is requested.
   */
  readonly blocks: AsyncIterable<Block>;
  /** Turns blocks into chunks: takes each block in turn, and undefined after the last. */
  readonly assembler: ChunkAssembler;
  /** Records below the header, in chunks of up to {@link mostRows}. */
  readonly chunks: AsyncIterable<ScannedChunk>;
}

/**
 * Reads a table with the scanner, the fast way.
 *
 * @param first the bytes of the table that were read already
 * @throws TableError if the header cannot be read
 */
export async function readScanned(
  shape: TableShape,
  target: WriteTarget,
  first: Buffer,
  rest: AsyncIterator<Uint8Array>,
  items: ItemTest,
  onBadRow: BadRowListener,
): Promise<ScannedTable> {
  const assembler = new ChunkAssembler(shape, items, onBadRow);
  const heads = Number(shape.hasHeader);
  let chunk = assembler.assemble(first, heads);
  while (chunk.count < heads && !assembler.isAtEnd) {
    const read = await rest.next();
    chunk = assembler.assemble(read.done ? undefined : read.value, heads);
  }
  const header = chunk.slice(0, heads);
  const below = chunk.slice(heads);
  const blocks = blocksOf(rest);
  const chunks = chunksOf(below, blocks, assembler);
  return { shape, target, onBadRow, header, first: below, blocks, assembler, chunks };
}

/**
 * Maximum number of rows in a chunk. A batched run submits, writes and stops between chunks: large ones would delay it.
 */
const mostRows = 1000;

async function* chunksOf(
  first: ScannedChunk,
  blocks: AsyncIterable<Block>,
  assembler: ChunkAssembler,
): AsyncGenerator<ScannedChunk> {
  yield* first.pieces(mostRows);
  for await (const { bytes } of blocks) yield* assembler.assemble(bytes).pieces(mostRows);
  yield* assembler.assemble(undefined).pieces(mostRows);
}
