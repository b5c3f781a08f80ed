// Writes zip archives, for tests and benchmarks.
import { crc32, deflateRawSync } from "node:zlib";

/**
 * Returns a zip archive of some parts, by their names.
 *
 * @param {Readonly<Record<string, string | Uint8Array>>} parts
 * @returns {Buffer}
 */
export function zip(parts) {
  const local = [];
  const directory = [];
  let offset = 0;
  for (const [name, text] of Object.entries(parts)) {
    const packed = deflateRawSync(text);
    const facts = Buffer.alloc(26);
    facts.writeUInt16LE(20, 0);
    facts.writeUInt16LE(8, 4);
    facts.writeUInt32LE(crc32(text), 10);
    facts.writeUInt32LE(packed.length, 14);
    facts.writeUInt32LE(Buffer.byteLength(text), 18);
    facts.writeUInt16LE(name.length, 22);
    const place = Buffer.alloc(14);
    place.writeUInt32LE(offset, 10);
    const part = Buffer.concat([Buffer.from("PK\x03\x04"), facts, Buffer.from(name), packed]);
    local.push(part);
    directory.push(Buffer.from("PK\x01\x02\x14\x00"), facts, place, Buffer.from(name));
    offset += part.length;
  }
  // The largest number says that the true one is elsewhere.
  const count = Math.min(Object.keys(parts).length, 0xffff);
  const end = Buffer.alloc(18);
  end.writeUInt16LE(count, 4);
  end.writeUInt16LE(count, 6);
  end.writeUInt32LE(Buffer.concat(directory).length, 8);
  end.writeUInt32LE(offset, 12);
  return Buffer.concat([...local, ...directory, Buffer.from("PK\x05\x06"), end]);
}
