/** Writes the records of a block with the fields added to them, as `CopyingWriter` in table/writers does. */
import * as layout from "../layout";

// Pads each record to the width of the table and adds the tail of its code; skips other shards. `at` is relative to
// `block`, `ends` to `out`. Returns -1 if the records do not fit `room`, or a row needs padding other than delimiters.
export function write(block: usize, at: usize, count: i32, codes: usize, out: usize, room: i32, ends: usize): i32 {
  const columns: i32 = load<i32>(layout.settings + 4 * layout.columnsWord);
  const width: i32 = load<i32>(layout.settings + 4 * layout.widthWord);
  const padding: u8 = <u8>load<u32>(layout.settings + 4 * layout.paddingWord);
  const first = out;
  const last: usize = out + room;
  for (let row: i32 = 0; row < count; row++, at += 4 * layout.recordWords) {
    const start: usize = block + load<u32>(at);
    const end: usize = block + load<u32>(at, 4);
    const next: usize = block + load<u32>(at, 8);
    const fields: i32 = load<i32>(at, 20);
    const code: u32 = load<u8>(codes);
    const padded: usize = fields === 0 ? 0 : width - fields;
    if (code === layout.otherShardCode) {
      store<u32>(ends + 4 * row, <u32>(out - first));
      codes += columns;
      continue;
    }
    // A blank line, and a row that ends before the added fields, stay as they are if these are empty.
    const isLeft = code === layout.notARowCode || ((padded > 0 || start === end) && hasNoItem(codes, columns));
    if (!isLeft && padded > 0 && padding === 0) return -1;
    if (out + (next - start) + padded + layout.tailBytes * columns > last) return -1;
    if (isLeft) {
      copy(out, start, next - start);
      out += next - start;
    } else {
      copy(out, start, end - start);
      out += end - start;
      for (let i: usize = 0; i < padded; i++) store<u8>(out++, padding);
      for (let column: i32 = 0; column < columns; column++) {
        const tail: usize = layout.tails + layout.tailBytes * <u32>load<u8>(codes + column);
        copy(out, tail + 4, load<u32>(tail));
        out += load<u32>(tail);
      }
      store<u16>(out, load<u16>(end));
      out += next - end;
    }
    store<u32>(ends + 4 * row, <u32>(out - first));
    codes += columns;
  }
  return <i32>(out - first);
}

function hasNoItem(codes: usize, columns: i32): bool {
  for (let column: i32 = 0; column < columns; column++) {
    if (load<u8>(codes + column) !== layout.noItemCode) return false;
  }
  return true;
}

function copy(to: usize, from: usize, length: usize): void {
  for (let i: usize = 0; i < length; i += 16) v128.store(to + i, v128.load(from + i));
}
