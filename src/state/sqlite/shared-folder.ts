/** Tells file systems that machines share: locks and SQLite's log may not work there (https://sqlite.org/wal.html). */
import { statfsSync } from "node:fs";
import { platform } from "node:process";

/** Names by their numbers in statfs(2) of Linux. FUSE may be shared or local. */
const sharedKinds: ReadonlyMap<number, string> = new Map([
  [0x6969, "NFS"],
  [0x517b, "SMB"],
  [0xff534d42, "SMB"],
  [0xfe534d42, "SMB"],
  [0x0bd00bd0, "Lustre"],
  [0x47504653, "GPFS"],
  [0x00c36400, "CephFS"],
  [0x19830326, "BeeGFS"],
  [0x65735546, "FUSE"],
  [0x01021997, "9p"],
]);

export function sharedKindOf(folder: string): string | undefined {
  if (platform !== "linux") return undefined;
  try {
    return sharedKinds.get(statfsSync(folder).type >>> 0);
  } catch {
    return undefined;
  }
}
