/** Tells JSON documents from JSON Lines, and from tables and logs whose lines start with a bracket. */
import type { TableOptions } from "../../core/table/table.js";
import { endingOf } from "../../files/ending.js";

/** Does not match `[192.0.2.1]` and `[Ann]`, which are lines of a list. */
const startOfArray = /^\s*\[\s*(?:[{["\]]|(?:-?\d+(?:\.\d+)?|true|false|null)\s*,|null\s*\]\s*$|$)/;
const startOfObject = /^\s*\{\s*(?:\}|"(?:[^"\\]|\\.)*"\s*:|$)/;
/** Files with these endings are tables, unless they start with a list of objects. */
const tableEndings = new Set(["csv", "tsv", "tab", "log"]);
const startOfList = /^\s*\[\s*\{/;
const startOfSequence = /^\x1e\s*\{/;

/** `sample` is a binary string; `objectLines` counts its lines that are objects, if the first one is. */
export function isDocument(
  name: string,
  sample: string,
  objectLines: number,
  { delimiter, skipLines = 0 }: TableOptions,
): boolean {
  if (delimiter !== undefined || skipLines > 0) return false;
  const ending = endingOf(name);
  // A JSON string contains no tab, and a value is not followed by other text.
  const isTable = /^[[{][^\n]*[\]}]\t[^\s"{[\]},]/.test(sample);
  if (isTable || (tableEndings.has(ending) && !startOfList.test(sample))) return false;
  if (startOfArray.test(sample) || startOfSequence.test(sample)) return true;
  if (ending === "jsonl" || ending === "ndjson") return false;
  if (ending === "json" && objectLines === 0) return /^\s*[[{/]/.test(sample);
  if (!startOfObject.test(sample)) return false;
  // A line that is only an opening bracket starts a value of several lines.
  return objectLines === 0 || (ending === "json" && objectLines === 1) || /^[ \t]*[{[][ \t]*$/m.test(sample);
}
