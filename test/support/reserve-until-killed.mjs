// node reserve-until-killed.mjs QUOTA_FILE UNITS
//
// Reserves UNITS at a time from a quota file and prints the granted number after each reservation, until it is killed or
// no unit is left.
import { writeSync } from "node:fs";
import { QuotaFile } from "../../dist/store/quota/quota-file.js";

const [path, units] = process.argv.slice(2);
const file = await QuotaFile.open(path, Date.now);
for (;;) {
  const { granted } = await file.reserve(Number(units));
  if (granted === 0) break;
  writeSync(1, `${granted}\n`);
}
