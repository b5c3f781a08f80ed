/** Reads a table with the scanner: finds the header, and provides the records below it as blocks of bytes. */
import { lineFeed } from "../../ascii.js";
import type { BadRowListener } from "../bad-rows.js";
import type { TableShape } from "../records.js";
import type { ItemTest } from "../sniff/item-profile.js";
import type { AddedColumns, WriteTarget } from "../writers/record-writer.js";
import { type Block, type BlockOptions, blocksOf } from "./blocks.js";
import { ChunkAssembler, scanAlone } from "./chunk-assembler.js";
import type { ScannedChunk } from "./scanned-chunk.js";

export interface RecordStream {
  start(columns: AddedColumns): Buffer;
  readonly scanned: ScannedTable;
}

export interface ScannedTable {
  readonly shape: TableShape;
  readonly target: WriteTarget;
  readonly onBadRow: BadRowListener;
  /** The header, without records if the table has none, and the records below it that were read along with it. */
  readonly header: ScannedChunk;
  readonly first: ScannedChunk;
  // Read once, after `first`. Blocks end after a line ending, maybe inside a record, and are valid until the next one.
  readonly blocks: (options?: BlockOptions) => AsyncIterable<Block>;
  readonly assembler: ChunkAssembler;
}

// In bytes. Threads judge the rest without texts, unless it has bad rows: they are found before anything is written, and
// many mean a wrong dialect.
const mostHere = 4096;

export interface TableBytes {
  readonly first: Buffer;
  readonly rest: AsyncIterator<Uint8Array>;
}

/** Reads on after `first`. @throws TableError when the header cannot be read */
export async function readScanned(
  shape: TableShape,
  target: WriteTarget,
  { first, rest }: TableBytes,
  items: ItemTest,
  onBadRow: BadRowListener,
): Promise<ScannedTable> {
  const assembler = new ChunkAssembler(shape, items, onBadRow);
  const heads = Number(shape.hasHeader);
  const end = first.length > mostHere ? first.lastIndexOf(lineFeed, mostHere) + 1 : 0;
  const lines = first.subarray(0, first.lastIndexOf(lineFeed) + 1);
  const isSound = end > 0 && scanAlone(shape, lines, { items }) !== undefined;
  const here = isSound ? first.subarray(0, end) : first;
  let chunk = assembler.assemble(here, heads);
  while (chunk.count < heads && !assembler.isAtEnd) {
    const read = await rest.next();
    chunk = assembler.assemble(read.done ? undefined : read.value, heads);
  }
  const header = chunk.slice(0, heads);
  const below = chunk.slice(heads);
  const blocks = (options?: BlockOptions) => blocksOf(rest, { ...options, ahead: first.subarray(here.length) });
  return { shape, target, onBadRow, header, first: below, blocks, assembler };
}
