/** Text in lines of a width. */
import { Help } from "commander";

// Cells of tables are narrow, too.
const help = Object.assign(new Help(), { minWidthToWrap: 0 });

export const terminalWidth = (): number => process.stdout.columns || 80;

// Longer words are not broken. The first line starts with `first`; the others are as far to the right.
export function wrap(text: string, width: number, first = ""): string {
  const lines = help.boxWrap(text, width - first.length);
  return first + lines.replaceAll("\n", `\n${" ".repeat(first.length)}`);
}
