/** The first bad rows of a checked list, for its page: from the findings beside its result, which go with it. */
import { readFile } from "node:fs/promises";

/** `text` has the item, its status and the reason. */
export type BadRow = { readonly line: number; readonly text: string };

const mostRows = 10;

/** What is read of a finding; see `codeQuality` in cli/bulk/report/findings-file.ts. */
interface CodeQualityFinding {
  readonly description: string;
  readonly location: { readonly lines: { readonly begin: number } };
}

/** Returns none for a list whose files are gone. */
export async function badRowsIn(path: string): Promise<readonly BadRow[]> {
  const text = await readFile(path, "utf8").catch(() => "[]");
  const findings = JSON.parse(text) as readonly CodeQualityFinding[];
  return findings.slice(0, mostRows).map(({ description, location }) => {
    return { line: location.lines.begin, text: description };
  });
}
