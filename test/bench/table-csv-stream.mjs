// Peer of bench:table: a csv-parse and csv-stringify stream with a Set of domains.
//
// node table-csv-stream.mjs INPUT LIST > OUTPUT
import { createReadStream, readFileSync } from "node:fs";
import { pipeline } from "node:stream/promises";
import { parse } from "csv-parse";
import { stringify } from "csv-stringify";

const [input, list] = process.argv.slice(2);
const disposable = new Set(readFileSync(list, "utf8").split("\n"));

await pipeline(
  createReadStream(input, { highWaterMark: 1 << 20 }),
  parse(),
  async function* (records) {
    for await (const record of records) {
      const email = record[2];
      record.push(disposable.has(email.slice(email.indexOf("@") + 1).toLowerCase()) ? "disposable" : "ok");
      yield record;
    }
  },
  stringify(),
  process.stdout,
);
