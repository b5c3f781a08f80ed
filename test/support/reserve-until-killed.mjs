// Reserves units from the quota file named by the first argument, the second argument's number at a time, and prints
// what was granted after each reservation, until it is killed or nothing is left.
import { writeSync } from "node:fs";
import { QuotaFile } from "../../dist/store/quota-file.js";

const [path, units] = process.argv.slice(2);
const file = await QuotaFile.open(path, Date.now);
for (;;) {
  const { granted } = await file.reserve(Number(units));
  if (granted === 0) break;
  writeSync(1, `${granted}\n`);
}
