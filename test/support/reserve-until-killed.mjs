// node reserve-until-killed.mjs QUOTA_FILE UNITS
//
// Charges UNITS at a time to a quota file, delivers them, and prints the granted number after each delivery, until it is killed
// or no unit is left.
import { writeSync } from "node:fs";
import { openQuotaFile } from "../../dist/state/quota/quota-file.js";

const [path, units] = process.argv.slice(2);
const { quotas } = await openQuotaFile(path, Date.now);
for (let charge = 1; ; charge++) {
  const id = String(process.pid);
  const request = { id, owner: id, charge, units: Number(units), held: 0, isDead: () => false };
  const { granted } = await quotas.reserve(request);
  if (granted === 0) break;
  await quotas.deliver({ id, kind: "email", holds: 0 }, true);
  writeSync(1, `${granted}\n`);
}
