/** Requirements for writing a table in another format: keys for JSON Lines, no bad rows, and no lines above the table. */
import { ChoiceError } from "../../../files/errors.js";
import type { BadRowPolicy } from "../bad-rows.js";
import { nameText } from "../bytes.js";

/** @throws ChoiceError if bad rows are to be kept, which no other format can represent */
export function checkReshapable(badRows: BadRowPolicy): void {
  if (badRows !== "keep") return;
  throw new ChoiceError(
    "--bad-rows keep works only in the text format of the input and with one output; use --bad-rows skip",
  );
}

/** Counts skipped lines, one that names the delimiter, and titles: other formats cannot represent them. */
export function countLeftOut(above: Buffer): number {
  const isTitle = (line: string) => line.trim() !== "" && !/^"?sep=.?"?$/i.test(line);
  const lines = above.toString("latin1").split(/\r\n|\r|\n/);
  return lines.slice(0, -1).filter(isTitle).length;
}

/** Returns different keys: `Name`, `Name[2]` for the second of that name, `3` for the third without a header. */
export function jsonKeys(header: readonly string[] | undefined, width: number): readonly string[] {
  const names = Array.from({ length: width }, (_, i) => nameText(header?.[i] ?? String(i + 1)));
  const taken = new Set(names);
  const seen = new Set<string>();
  return names.map((name) => {
    if (!seen.has(name)) {
      seen.add(name);
      return name;
    }
    for (let n = 2; ; n++) {
      const key = `${name}[${n}]`;
      if (taken.has(key)) continue;
      taken.add(key);
      return key;
    }
  });
}
