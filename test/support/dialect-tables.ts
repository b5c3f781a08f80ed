/** Tables in other dialects than that of RFC 4180. */
import { folderOf } from "./temporary-folder.js";

export const item = (i: number) => (i % 7 === 3 ? `p${i}@mailinator.com` : `p${i}@larch-and-oak.com`);
const status = (i: number) => (i % 7 === 3 ? "disposable" : "ok");

/** What is said of a dialect, its header and rows, and what is before the status. */
export const dialects: [words: string, header: string, row: (i: number) => string, before: string][] = [
  ["quotes are '", "id,name,email", (i) => `${i},'O''Neil, A ${i}','${item(i)}'`, ","],
  ["\\ escapes quotes", "id,name,email", (i) => `${i},"A \\"B, ${i}\\"",${item(i)}`, ","],
  ["quotes are text", "id\tname\temail", (i) => `${i}\t${i % 3 ? "A" : '"Al'}\t${item(i)}`, "\t"],
  ["spaces in front of fields belong to the delimiter", "id, name, email", (i) => `${i}, "L, A", ${item(i)}`, ", "],
  [
    "runs of spaces are the delimiter",
    "id  name    email",
    (i) => `${i}  ${"N".repeat(1 + (i % 5))}   ${item(i)}`,
    " ",
  ],
];

/** Returns a folder with `list.txt`, `count` rows in a dialect, and that table with statuses. */
export function dialectTable([, header, row, before]: (typeof dialects)[number], count: number) {
  const rows = Array.from({ length: count }, (_, i) => row(i));
  const home = folderOf({ "list.txt": `${header}\n${rows.join("\n")}\n` });
  const written = rows.map((line, i) => `${line}${before}${status(i)}`);
  return { home, expected: `${[`${header}${before}status`, ...written].join("\n")}\n` };
}
