/** Refuses a file whose distinct items would not fit into memory, before anything is charged for it. */
import { totalmem } from "node:os";
import { FileError } from "../../../files/errors.js";
import { counted, grouped, sizeOf } from "../../../text.js";

/** Bytes of a run without items, and of each distinct item; measured with 1 and 10 million in a memory cgroup. */
const runBytes = 45_000_000;
const itemBytes = 12.2;
const mostItems = 240_000_000;

/** Fewer items are not looked at, however little memory there is. */
const leastItems = 100_000;

const memoryLimit = (): number => Math.min(totalmem(), process.constrainedMemory() || totalmem());

/** Assumes that all items are different; `limit` is in bytes. @throws FileError when they would not fit */
export function checkMemory(
  inputName: string,
  rows: number,
  columns: number,
  options: { readonly shards?: number | undefined; readonly limit?: number } = {},
): void {
  const { shards = 1 } = options;
  const items = (rows * columns) / shards;
  if (items <= leastItems) return;
  const { limit = memoryLimit() } = options;
  const most = Math.min(mostItems, Math.max(0, limit - runBytes) / itemBytes);
  if (items <= most) return;
  // With so little memory, no number of parts would do.
  if (most < leastItems) return;
  const about = grouped(Number(items.toPrecision(2)));
  const [needed, has] = [sizeOf(runBytes + itemBytes * items), sizeOf(limit)];
  const parts = Math.ceil((1.1 * rows * columns) / most);
  throw new FileError(
    `${inputName}: if all are different, its ${about} items or so need ${needed} of memory, and there are ${has}; ` +
      `validate it in ${counted(parts, "part")}, --shard 1/${parts} and so on, or add --force if many are the same`,
  );
}
