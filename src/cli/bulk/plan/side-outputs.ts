// Guards files beside the output. A mistyped name may be that of somebody's only copy: a file is replaced only if idv
// wrote it for the same purpose, and its name must end as such files do.
import { readFileSync } from "node:fs";
import { beforeIn } from "../../../core/facts/render/json.js";
import { endingOf } from "../../../files/ending.js";
import { firstBytes, found, isDevicePath } from "../../../files/found.js";
import { printable } from "../../../text.js";
import { UsageError } from "../../errors.js";
import { badRowsHeader } from "../report/bad-rows.js";
import { findBrowser } from "../report/pdf.js";

export interface SideOutput {
  readonly path: string;
  readonly kind: keyof typeof kinds;
  /** The option as typed, if its kind has several forms. */
  readonly option?: string;
}

interface SideOutputKind {
  readonly what: string;
  /** Noun for messages about two files of one run. */
  readonly role: string;
  readonly option: string;
  readonly endings: readonly string[];
  /** Whether idv wrote a file for this purpose. Text that cannot be parsed throws, as it is not ours. */
  readonly isOwn: (path: string, size: number) => boolean;
}

/** Larger files are not read. */
const mostRead = 67_108_864;
const textOf = (path: string, size: number): string => (size <= mostRead ? readFileSync(path, "utf8") : "");
const startOf = (path: string): string => firstBytes(path, 65_536).toString();

const kinds = {
  report: {
    what: "a report",
    role: "the report",
    option: "--report ",
    endings: ["html", "htm", "md", "markdown", "json", "pdf", "svg"],
    isOwn: (path, size) => beforeIn(textOf(path, size)) !== undefined,
  },
  page: {
    what: "a page",
    role: "the page",
    option: "-o ",
    endings: ["html", "htm"],
    isOwn: (path) => startOf(path).includes('<script type="text/plain" id="worker">'),
  },
  state: {
    what: "an exported state",
    role: "the state",
    option: "-o ",
    endings: ["jsonl", "ndjson", "json"],
    isOwn: (path) => JSON.parse(startOf(path).split("\n")[0]!)?.idv === "state",
  },
  badRows: {
    what: "a list of bad rows",
    role: "the file of bad rows",
    option: "--bad-rows ",
    endings: ["csv", "txt"],
    isOwn: (path) => startOf(path).startsWith(badRowsHeader),
  },
  summary: {
    what: "a log of summaries",
    role: "the summary file",
    option: "--log json:",
    endings: ["json", "jsonl", "ndjson", "log"],
    isOwn: (path) => ["summary", "total"].includes(JSON.parse(startOf(path).split("\n")[0]!)?.type),
  },
  gitlab: {
    what: "a code quality report",
    role: "the file of annotations",
    option: "--log gitlab:",
    endings: ["json"],
    isOwn: (path, size) => {
      const entries: unknown = JSON.parse(textOf(path, size));
      return (
        Array.isArray(entries) &&
        entries.every((entry) => Object.keys(entry).join() === codeQualityKeys && isHash(entry.fingerprint))
      );
    },
  },
  sarif: {
    what: "a SARIF file",
    role: "the file of annotations",
    option: "--log sarif:",
    endings: ["sarif", "json"],
    isOwn: (path, size) => JSON.parse(textOf(path, size))?.runs?.[0]?.tool?.driver?.name === "idv",
  },
} satisfies Record<string, SideOutputKind>;

/** Members of a finding, in the order in which findings-file.ts writes them. */
const codeQualityKeys = "description,check_name,fingerprint,severity,location";
const isHash = (text: unknown): boolean => typeof text === "string" && /^[\da-f]{64}$/.test(text);

export const roleOf = ({ kind }: SideOutput): string => kinds[kind].role;

export function checkSideOutputs(outputs: readonly SideOutput[]): void {
  for (const { path, kind, option = kinds[kind].option } of outputs) {
    const { what, endings, isOwn }: SideOutputKind = kinds[kind];
    const file = found(path);
    if (kind === "report" && endingOf(path) === "pdf" && findBrowser(process.env) === undefined)
      throw new UsageError(
        `--report ${printable(path)}: a PDF needs Chromium, Chrome or Edge, and none is found; write FILE.html and print it`,
      );
    // Devices and pipes are written to, not replaced; opening a folder reports it.
    if (isDevicePath(path) || (file && !file.isFile())) continue;
    const named = `${option}${printable(path)}`;
    if (!endings.includes(endingOf(path)) || /\.(?:gz|zst)$/i.test(path)) {
      throw new UsageError(`${named}: ${what} ends in ${listed(endings)}`);
    }
    if (file !== undefined && file.size > 0 && !isTrue(() => isOwn(path, file.size)))
      throw new UsageError(`${named}: the existing file is not ${what} of idv; name another file, or remove it`);
  }
}

/** False if it throws: opening the file for output reports that it cannot be read. */
function isTrue(test: () => boolean): boolean {
  try {
    return test();
  } catch {
    return false;
  }
}

const listed = (endings: readonly string[]): string =>
  new Intl.ListFormat("en", { type: "disjunction" }).format(endings.map((ending) => `.${ending}`));
