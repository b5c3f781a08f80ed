import type { BadRowListener } from "../bad-rows.js";
import { type RecordStream, startTable, type TableShape } from "../records.js";
import { type Block, blocksOf } from "./blocks.js";
import { ChunkAssembler } from "./chunk-assembler.js";
import type { ScannedChunk } from "./scanned-chunk.js";

/** A stream of records that may also be had as bytes: where the scanner finds them. */
export interface ScannableStream extends RecordStream {
  readonly scanned?: ScannedTable;
}

/** A table of which the records are found by the scanner, for whoever works on their bytes. */
export interface ScannedTable {
  readonly shape: TableShape;
  /** The records below the header that had to be read to find it. */
  readonly first: ScannedChunk;
  /**
   * The bytes behind them, cut behind line ends: most are, but some may not be, the ends of records. Each is good until
   * the next is asked for.
   */
  readonly blocks: AsyncIterable<Block>;
  /** Makes chunks of the blocks: takes each in turn, and undefined behind the last. */
  readonly assembler: ChunkAssembler;
  /** All the chunks, for whoever does not make them of the blocks. */
  readonly chunks: AsyncIterable<ScannedChunk>;
}

/**
 * The fast way: records are found by the scanner and come out with the very bytes they had, with ours behind them.
 * Only a line of a plain list that holds a comma is quoted, because ours would not be its second field otherwise.
 *
 * @param first the bytes that are read already, without byte order mark
 * @throws TableError when the header cannot be read
 */
export async function readScanned(
  shape: TableShape,
  first: Buffer,
  rest: AsyncIterator<Uint8Array>,
  onBadRow: BadRowListener,
): Promise<RecordStream & { readonly scanned: ScannedTable }> {
  const assembler = new ChunkAssembler(shape, onBadRow);
  let chunk = assembler.assemble(first, shape.skipped);
  while (chunk.count < shape.skipped && !assembler.isAtEnd) {
    const read = await rest.next();
    chunk = assembler.assemble(read.done ? undefined : read.value, shape.skipped);
  }
  const head = chunk.slice(0, shape.skipped);
  const below = chunk.slice(shape.skipped);
  const blocks = blocksOf(rest);
  const chunks = chunksOf(below, blocks, assembler);
  return {
    start: (columns) => startTable(shape, columns, (names) => head.append(names)),
    chunks,
    scanned: { shape, first: below, blocks, assembler, chunks },
  };
}

/** Few enough that whoever waits for an answer between them need not wait for them. */
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
