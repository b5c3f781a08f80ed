// Guards files beside the output. A mistyped name may be that of somebody's only copy: a file is replaced only if idv
// wrote it for the same purpose, and its name must end as such files do.
import { closeSync, openSync, readFileSync, readSync } from "node:fs";
import { beforeIn } from "../../../core/facts/render/json.js";
import { endingOf } from "../../../files/ending.js";
import { found, isDevicePath } from "../../../files/found.js";
import { printable } from "../../../text.js";
import { UsageError } from "../../errors.js";
import { badRowsHeader } from "../report/bad-rows.js";
import { findBrowser } from "../report/pdf.js";

export interface SideOutput {
  readonly path: string;
  readonly kind: keyof typeof kinds;
}

interface SideOutputKind {
  readonly what: string;
  readonly option: string;
  readonly endings: readonly string[];
  /** Whether idv wrote a file for this purpose. */
  readonly isOwn: (path: string, size: number) => boolean;
}

const mostRead = 67_108_864;

const kinds = {
  report: {
    what: "a report",
    option: "--report ",
    endings: ["html", "htm", "md", "markdown", "json", "pdf"],
    isOwn: (path, size) => size <= mostRead && beforeIn(readFileSync(path, "utf8")) !== undefined,
  },
  badRows: {
    what: "a list of bad rows",
    option: "--bad-rows skip:",
    endings: ["csv", "txt"],
    isOwn: (path) => startOf(path).startsWith(badRowsHeader),
  },
  summary: {
    what: "a log of summaries",
    option: "--log json:",
    endings: ["json", "jsonl", "ndjson", "log"],
    isOwn: (path) => ["summary", "total"].includes(String(objectIn(startOf(path).split("\n")[0])?.["type"])),
  },
  gitlab: {
    what: "a code quality report",
    option: "--log gitlab:",
    endings: ["json"],
    isOwn: (path, size) => {
      const entries = size <= mostRead && valueIn(readFileSync(path, "utf8"));
      return (
        Array.isArray(entries) &&
        entries.every((entry) => Object.keys(entry).join() === codeQualityKeys && isHash(entry.fingerprint))
      );
    },
  },
  sarif: {
    what: "a SARIF file",
    option: "--log sarif:",
    endings: ["sarif", "json"],
    isOwn: (path, size) => size <= mostRead && toolIn(readFileSync(path, "utf8")) === "idv",
  },
} satisfies Record<string, SideOutputKind>;

/** Members of a finding, in the order in which findings-file.ts writes them. */
const codeQualityKeys = "description,check_name,fingerprint,severity,location";
const isHash = (text: unknown): boolean => typeof text === "string" && /^[\da-f]{64}$/.test(text);

export function checkSideOutputs(outputs: readonly SideOutput[]): void {
  for (const { path, kind } of outputs) {
    const { what, option, endings, isOwn }: SideOutputKind = kinds[kind];
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
    if (file !== undefined && file.size > 0 && !isReadable(() => isOwn(path, file.size)))
      throw new UsageError(`${named}: the file that is there is not ${what} of idv; name another file, or remove it`);
  }
}

/** Opening the file for output reports a fault. */
function isReadable(isOwn: () => boolean): boolean {
  try {
    return isOwn();
  } catch {
    return false;
  }
}

const listed = (endings: readonly string[]): string =>
  new Intl.ListFormat("en", { type: "disjunction" }).format(endings.map((ending) => `.${ending}`));

function startOf(path: string): string {
  const file = openSync(path, "r");
  try {
    const bytes = Buffer.alloc(65_536);
    return bytes.toString("utf8", 0, readSync(file, bytes));
  } finally {
    closeSync(file);
  }
}

function valueIn(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

function objectIn(text: string | undefined): Readonly<Record<string, unknown>> | undefined {
  const value = valueIn(text ?? "");
  return typeof value === "object" && value !== null ? (value as Readonly<Record<string, unknown>>) : undefined;
}

function toolIn(text: string): unknown {
  const { runs } = (objectIn(text) ?? {}) as { runs?: readonly { tool?: { driver?: { name?: unknown } } }[] };
  return runs?.[0]?.tool?.driver?.name;
}
