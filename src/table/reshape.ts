/**
 * Requirements for writing a table in another format: keys for JSON Lines, no bad rows, and no items above the table.
 */
import { ChoiceError } from "../files/errors.js";
import type { BadRowPolicy } from "./bad-rows.js";
import { nameText } from "./bytes.js";
import type { ItemProfile } from "./sniff/item-profile.js";
import { holdsItem } from "./sniff/layout.js";

/** @throws ChoiceError if bad rows are to be kept, which no other format can represent */
export function checkReshapable(badRows: BadRowPolicy): void {
  if (badRows !== "keep") return;
  throw new ChoiceError("--bad-rows keep needs the format of FILE and one output; use --bad-rows skip");
}

/**
 * Counts the lines above a table that another format cannot represent.
 *
 * @param skipped the lines that the user skipped, and one that names the delimiter
 * @param titles the detected lines above the table
 * @throws ChoiceError if a title holds an item, which would be lost
 */
export function countLeftOut(name: string, skipped: Buffer, titles: Buffer, profile: ItemProfile): number {
  const skippedLines = linesOf(skipped);
  const lines = linesOf(titles);
  const found = lines.findIndex((line) => holdsItem(line, profile));
  if (found >= 0) {
    const count = skippedLines.length + lines.length;
    throw new ChoiceError(
      `${name}:${skippedLines.length + found + 1}: this line above the table holds ${profile.plural}, and another format has no place for it; write the format of the input, or leave the lines out with --skip-lines ${count}`,
    );
  }
  const isTitle = (line: string) => line.trim() !== "" && !/^"?sep=.?"?$/i.test(line);
  return [...skippedLines, ...lines].filter(isTitle).length;
}

const linesOf = (bytes: Buffer): string[] =>
  bytes
    .toString("latin1")
    .split(/\r\n|\r|\n/)
    .slice(0, -1);

/**
 * Returns the keys of the columns in JSON, all different: the name of the column, `Name[2]` for the second column of
 * the same name, and `3` for the third column of a table without a header.
 */
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
