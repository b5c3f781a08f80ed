// Opens JSON documents as JSON Lines with marks (table/json/marks.ts): all that works for lines works for documents,
// and the way back needs the written lines alone. A document of several lists may name the wanted one last, so its
// lists are compared in its first 16 MiB; an array is known by its first byte.
import { ArraysAsObjects } from "../../core/table/json/arrays.js";
import { checkSyntax } from "../../core/table/json/grammar.js";
import { note } from "../../core/table/json/marks.js";
import { openJsonLines } from "../../core/table/open/open-json-lines.js";
import type { OpenedTable, TableOptions, TableStart } from "../../core/table/table.js";
import { type Refusals, refuse } from "../format.js";
import { DocumentRecords } from "./document-records.js";
import { type ChosenLists, chooseLists } from "./lists.js";

/** In bytes: to compare the lists of records, and to find the columns that the user named. */
const mostSurveyed = 16_777_216;
const mostSearched = 67_108_864;
const pieceBytes = 65_536;

const refuses: Refusals = { comment: "a JSON document has no comments; leave --comment out" };

/** @throws ChoiceError if several lists or columns fit, TableError if its start is not JSON */
export async function openDocument(start: TableStart, options: TableOptions): Promise<OpenedTable> {
  const { source, input, isWhole } = start;
  refuse(source.name, refuses, { comment: options.dialect?.comment !== undefined });
  let bytes = start.first;
  let isAll = isWhole;
  let chosen: ChosenLists | undefined;
  const mostBytes = options.columns === undefined ? mostSurveyed : mostSearched;
  for (;;) {
    const isEnough = isAll || bytes.length >= mostBytes;
    chosen = chooseLists(source.name, bytes, isEnough, { ...options, isCut: !isAll });
    if (chosen !== undefined) break;
    const more = await readMore(input, Math.min(bytes.length, mostBytes - bytes.length));
    isAll = more.isEnd;
    bytes = Buffer.concat([bytes, ...more.chunks]);
  }
  if (chosen.objects.length === 0) checkSyntax(source.name, bytes);
  const { header } = chosen.shape;
  const records = new DocumentRecords(source.name, chosen.shape);
  const objectsOf = header && new ArraysAsObjects(header);
  const lines: Lines = {
    read: (piece) => objectsOf?.convert(records.read(piece)) ?? records.read(piece),
    end: () => objectsOf?.convert(records.end()) ?? records.end(),
  };
  let first = Buffer.from(lines.read(bytes.subarray(0, pieceBytes)));
  // Read a small document whole, so that its faults are known before anything is charged.
  const isRead = isAll && bytes.length <= pieceBytes;
  if (isRead) first = Buffer.concat([first, lines.end()]);
  const rest = isRead ? input : linesOf(lines, bytes.subarray(pieceBytes), isAll ? undefined : input);
  const { columns = options.columns, objects } = chosen;
  const given = { ...options, ...(columns && { columns }) };
  return openJsonLines({ ...start, first, input: rest }, first, objects, given, {
    prefix: chosen.prefix,
    alternatives: chosen.alternatives,
    others: () => records.others,
    header,
    isOfTexts: chosen.shape.textName !== undefined,
    mayHaveMore: !isAll && options.columns === undefined && chosen.shape.lists.some(({ names }) => names.length > 0),
    addedBytes: records.addedBytes,
    comment: String.fromCharCode(note),
  });
}

type Lines = Pick<DocumentRecords, "read" | "end">;

async function readMore(input: AsyncIterator<Uint8Array>, bytes: number) {
  const chunks: Buffer[] = [];
  for (let length = 0; length < bytes; ) {
    const next = await input.next();
    if (next.done) return { chunks, isEnd: true };
    chunks.push(Buffer.from(next.value));
    length += next.value.length;
  }
  return { chunks, isEnd: false };
}

async function* linesOf(lines: Lines, read: Buffer, input: AsyncIterator<Uint8Array> | undefined) {
  try {
    for (let at = 0; at < read.length; at += pieceBytes) yield lines.read(read.subarray(at, at + pieceBytes));
    for (let next = await input?.next(); next?.done === false; next = await input?.next()) yield lines.read(next.value);
    yield lines.end();
  } finally {
    void input?.return?.();
  }
}
