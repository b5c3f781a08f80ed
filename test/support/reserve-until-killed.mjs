// node reserve-until-killed.mjs QUOTA_FILE UNITS
//
// Charges UNITS at a time to a quota file, delivers them, and prints the granted number after each delivery, until it is killed
// or no unit is left.
import { writeSync } from "node:fs";
import { openQuotaFile } from "../../dist/state/quota/quota-file.js";

const [path, units] = process.argv.slice(2);
const { quotas } = await openQuotaFile(path, Date.now);
for (;;) {
  const id = String(process.pid);
  const { holds } = await quotas.reserve({ id, owner: id, holds: Number(units), isDead: () => false });
  if (holds === 0) break;
  await quotas.deliver({ id, kind: "email", held: holds, holds: 0 }, true);
  writeSync(1, `${holds}\n`);
}
