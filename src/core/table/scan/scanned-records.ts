/** Reads a table with the scanner: finds the header, and provides the records below it as blocks of bytes. */
import type { BadRowListener } from "../bad-rows.js";
import type { TableShape } from "../records.js";
import type { ItemTest } from "../sniff/item-profile.js";
import type { AddedColumns, WriteTarget } from "../writers/record-writer.js";
import { type Block, type BlockOptions, blocksOf } from "./blocks.js";
import { ChunkAssembler } from "./chunk-assembler.js";
import type { ScannedChunk } from "./scanned-chunk.js";

export interface RecordStream {
  /**
   * Returns the bytes above the rows: the byte order mark, the preamble, and the header with the added columns. Called
   * first.
   */
  start(columns: AddedColumns): Buffer;
  readonly scanned: ScannedTable;
}

/** The records of a table, which can be read once: from `first`, `blocks` and `assembler`. */
export interface ScannedTable {
  readonly shape: TableShape;
  readonly target: WriteTarget;
  readonly onBadRow: BadRowListener;
  /** The header, without records if the table has none, and the records below it that were read along with it. */
  readonly header: ScannedChunk;
  readonly first: ScannedChunk;
  /**
   * Returns the bytes that follow `first`, once. Blocks end after a line ending, which is not always the end of a
   * record. Each is valid until the next one is requested.
   */
  readonly blocks: (options?: BlockOptions) => AsyncIterable<Block>;
  readonly assembler: ChunkAssembler;
}

/**
 * @param first the bytes of the table that were already read
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
  const blocks = (options?: BlockOptions) => blocksOf(rest, options);
  return { shape, target, onBadRow, header, first: below, blocks, assembler };
}
