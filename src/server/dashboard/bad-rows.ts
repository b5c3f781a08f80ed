/** The first bad rows of a checked list, for its page: from the findings beside its result, which go with it. */
import { readFile } from "node:fs/promises";
import { reasonText } from "../../core/facts/words.js";

/** `text` has the item, its status and the reason; the line is unknown in formats without lines. */
export type BadRow = { readonly line: number | undefined; readonly text: string };

const mostRows = 10;

/** What is read of a finding; see `codeQuality` in cli/bulk/report/findings-file.ts. */
interface CodeQualityFinding {
  readonly description: string;
  readonly check_name: string;
  readonly location: { readonly lines: { readonly begin: number } };
}

/** Returns none for a list whose files are gone or damaged, or was checked without findings. */
export async function badRowsIn(path: string): Promise<readonly BadRow[]> {
  try {
    const findings = JSON.parse(await readFile(path, "utf8")) as readonly CodeQualityFinding[];
    // Broken rows, which are counted beside, are no rows to correct.
    const rows = findings.filter(({ check_name: rule }) => rule !== "bad-row").slice(0, mostRows);
    const hasLines = rows.some(({ location }) => location.lines.begin > 1);
    return rows.map(({ description, location }) => {
      const text = description
        .replace(/ is (\w+) \(([a-z-]+)(?=[:;)])/, (_, status, code) => ` is ${status} (${reasonText(code)}`)
        .replace(/ is fake(?= \(|;|$)/, " is undeliverable");
      return { line: hasLines ? location.lines.begin : undefined, text };
    });
  } catch {
    return [];
  }
}
