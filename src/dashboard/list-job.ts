/**
 * One list of a session: its upload in a folder of its own, and the command line as a child process, so that a list
 * that needs too much memory ends only that process. The folder is removed when the job ends, for whatever reason.
 */
import type { ChildProcess } from "node:child_process";
import { createWriteStream } from "node:fs";
import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { Kind } from "../validator/validator.js";
import { PageFault } from "./page-fault.js";

/** Implemented by the caller that composes the service. */
export interface ListRunner {
  /** Creates a folder that only this process's user can enter, and whose name identifies the process. */
  readonly newFolder: () => Promise<string>;
  readonly removeFolder: (folder: string) => Promise<void>;
  /** Starts idv. `keyId` is the key whose quota is charged; undefined for a dry run. */
  readonly start: (args: readonly string[], folder: string, keyId: string | undefined) => ChildProcess;
  readonly mostBytes: number;
  /** Time limit of the dry run that detects the table, in milliseconds. */
  readonly lookMilliseconds: number;
}

export interface DetectedTable {
  readonly rows: number;
  readonly distinct: number;
  /** From 1. */
  readonly column: number;
  readonly columnName: string | null;
  readonly columns: readonly string[];
  readonly delimiter: string | null;
}

export interface ListChoices {
  readonly keyId: string;
  readonly column: number;
  readonly delimiter: string | undefined;
  readonly drop: readonly string[];
  readonly isSplit: boolean;
  readonly dns: boolean;
}

export interface ResultFile {
  readonly name: string;
  readonly bytes: number;
}

interface RunState {
  readonly rows: number;
  readonly share: number | null;
  readonly units: number;
}

interface ListSummary {
  readonly rows: number;
  readonly written: number;
  readonly statuses: Readonly<Record<string, number>>;
  readonly units: { readonly used: number };
}

export type JobState =
  | { readonly name: "arriving" }
  | { readonly name: "detected"; readonly table: DetectedTable }
  | { readonly name: "running"; readonly progress: RunState | undefined }
  | {
      readonly name: "done";
      readonly summary: ListSummary;
      readonly isExhausted: boolean;
      readonly files: readonly ResultFile[];
    }
  | { readonly name: "failed"; readonly fault: string };

/**
 * Limit on the bytes of a job's folder, with the unpacked list and the results, as a multiple of the largest upload.
 */
const mostGrowth = 8;
const watchMilliseconds = 500;
/** Exit codes of runs whose output is complete. */
const success = 0;
const quotaExhausted = 4;
const report = "report.html";
const split = "split";

export class ListJob {
  /** As uploaded, with unsafe characters replaced. */
  name = "list.csv";
  kind: Kind = "email";
  state: JobState = { name: "arriving" };
  isSplit = false;
  readonly #runner: ListRunner;
  #folder = "";
  #upload: Readable | undefined;
  #taken: Promise<void> = Promise.resolve();
  #child: ChildProcess | undefined;
  #isEnded = false;

  constructor(runner: ListRunner) {
    this.#runner = runner;
  }

  /**
   * Stores an upload and detects its table.
   *
   * @param column name or number of the column with the items; empty to detect it
   * @throws PageFault when it is too large, no list can be found in it, or the job was ended meanwhile
   */
  take(
    upload: Readable,
    { name, kind, column }: { readonly name: string; readonly kind: Kind; readonly column: string },
  ): Promise<void> {
    this.name = fileName(name);
    this.kind = kind;
    this.#upload = upload;
    // Listen from the start: the upload may break off while the folder is created.
    upload.on("error", (error) => upload.destroy(error));
    this.#taken = this.#take(upload, column);
    return this.#taken;
  }

  async #take(upload: Readable, column: string): Promise<void> {
    this.#folder = await this.#runner.newFolder();
    await this.#spool(upload);
    await this.#detect(column);
  }

  async #spool(upload: Readable): Promise<void> {
    const { mostBytes } = this.#runner;
    let bytes = 0;
    await pipeline(
      upload,
      async function* (parts: AsyncIterable<Buffer>) {
        for await (const part of parts) {
          bytes += part.length;
          if (bytes > mostBytes) throw tooLarge(mostBytes);
          yield part;
        }
      },
      createWriteStream(join(this.#folder, this.name), { mode: 0o600, flags: "wx" }),
    );
    if (bytes === 0) throw new PageFault(400, "Choose a file that is not empty.");
  }

  async #detect(column: string): Promise<void> {
    const chosen = column === "" ? [] : ["-c", column];
    const quota = ["--offline", "--quota", ".detect.db"];
    let isSlow = false;
    const timer = setTimeout(() => {
      isSlow = true;
      this.#child?.kill("SIGKILL");
    }, this.#runner.lookMilliseconds);
    const { exitCode, lines } = await this.#run(
      [...quota, ...chosen, "--dry-run", "--bad-rows", "skip"],
      undefined,
      () => {},
    )
      .catch((error: unknown) => {
        throw isSlow
          ? new PageFault(413, "It takes too long to look at the list; use the command line.")
          : error;
      })
      .finally(() => clearTimeout(timer));
    const table = lines.findLast((line) => line["dryRun"] === true);
    if (exitCode !== success || table === undefined) {
      const fault = faultIn(lines, this.#folder);
      throw new PageFault(
        400,
        / -c\b/.test(fault) ? `${fault}; in this form, -c is the field Column` : fault,
      );
    }
    this.state = { name: "detected", table: table as unknown as DetectedTable };
  }

  /** Returns at once; `state` follows the run. */
  start({ keyId, column, delimiter, drop, isSplit, dns }: ListChoices): void {
    const args = [
      ...["--set", "engine=offline", "-c", String(column), "--report", report],
      ...(delimiter === undefined ? [] : ["-d", delimiter]),
      ...(drop.length === 0 ? [] : ["--drop", drop.join(",")]),
      ...(isSplit ? ["--split", split] : ["-o", this.#output]),
      ...(dns ? ["--dns"] : []),
    ];
    this.isSplit = isSplit;
    this.state = { name: "running", progress: undefined };
    const progress = (line: Readonly<Record<string, unknown>>) => {
      if ("share" in line) this.state = { name: "running", progress: line as unknown as RunState };
    };
    this.#run(args, keyId, progress).then(
      async ({ exitCode, lines }) => {
        const summary = lines.findLast((line) => "statuses" in line && "engine" in line);
        const isWhole = exitCode === success || exitCode === quotaExhausted;
        this.state =
          isWhole && summary !== undefined
            ? {
                name: "done",
                summary: summary as unknown as ListSummary,
                isExhausted: exitCode === quotaExhausted,
                files: await this.#results(),
              }
            : { name: "failed", fault: faultIn(lines, this.#folder) };
      },
      (error: Error) => {
        this.state = { name: "failed", fault: error.message };
      },
    );
  }

  get #output(): string {
    // The ending decides the format. OpenDocument sheets are read, not written.
    return `checked-${this.name.replace(/\.ods$/i, ".xlsx")}`;
  }

  async #results(): Promise<readonly ResultFile[]> {
    const names = this.isSplit ? (await readdir(join(this.#folder, split))).sort() : [this.#output];
    return Promise.all(names.map(async (name) => ({ name, bytes: (await stat(this.pathOf(name))).size })));
  }

  pathOf(name: string): string {
    return this.isSplit ? join(this.#folder, split, name) : join(this.#folder, name);
  }

  get reportPath(): string {
    return join(this.#folder, report);
  }

  async end(): Promise<void> {
    this.#isEnded = true;
    this.#upload?.destroy();
    const child = this.#child;
    if (child !== undefined && child.exitCode === null && child.signalCode === null) {
      const exited = new Promise((resolve) => child.once("close", resolve));
      child.kill("SIGKILL");
      await exited;
    }
    await this.#taken.catch(() => {});
    if (this.#folder !== "") await this.#runner.removeFolder(this.#folder);
  }

  /** Returns the exit code and the lines of JSON of a run; other lines are under `said`. */
  async #run(
    args: readonly string[],
    keyId: string | undefined,
    onLine: (line: Readonly<Record<string, unknown>>) => void,
  ): Promise<{ exitCode: number | null; lines: readonly Readonly<Record<string, unknown>>[] }> {
    const command = this.kind === "email" ? "emails" : "domains";
    const input = this.name.startsWith("-") ? `./${this.name}` : this.name;
    const all = [command, input, ...args, "--log", "json"];
    if (this.#isEnded) throw removed();
    const child = this.#runner.start(all, this.#folder, keyId);
    this.#child = child;
    const lines: Readonly<Record<string, unknown>>[] = [];
    let rest = "";
    child.stderr!.setEncoding("utf8").on("data", (text: string) => {
      const parts = (rest + text).split("\n");
      rest = (parts.pop() ?? "").slice(-100_000);
      for (const part of parts) {
        const line = parseLine(part);
        onLine(line);
        // Progress lines are not kept.
        if (!("share" in line)) lines.push(line);
        if (lines.length > 100) lines.shift();
      }
    });
    let isTooLarge = false;
    const watch = setInterval(async () => {
      const most = this.#runner.mostBytes * mostGrowth;
      if ((await sizeOf(this.#folder)) <= most) return;
      isTooLarge = true;
      child.kill("SIGKILL");
    }, watchMilliseconds);
    const exitCode = await new Promise<number | null>((resolve, reject) => {
      child.once("error", reject);
      child.once("close", resolve);
    }).finally(() => clearInterval(watch));
    if (isTooLarge)
      throw new PageFault(413, "The list is too large when it is unpacked; use the command line.");
    if (this.#isEnded) throw removed();
    if (exitCode === null) {
      throw new PageFault(500, "The check was stopped: out of memory? Use the command line.");
    }
    return { exitCode, lines };
  }
}

const removed = (): PageFault => new PageFault(410, "The list was removed.");

const tooLarge = (mostBytes: number): PageFault =>
  new PageFault(
    413,
    `The list is larger than ${Math.floor(mostBytes / 1_048_576)} MiB; check it with idv on the command line.`,
  );

/** Returns a name that is safe for a file and in messages. */
function fileName(name: string): string {
  const base = (name.split(/[/\\]/).at(-1) ?? "").replace(/[^\p{L}\p{N} ._()+-]/gu, "_").slice(-80);
  return /[\p{L}\p{N}]/u.test(base) && !base.startsWith(".") ? base : "list.csv";
}

function parseLine(text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === "object" && value !== null) return value as Readonly<Record<string, unknown>>;
  } catch {
    // Not JSON: a note.
  }
  return { said: text };
}

function faultIn(lines: readonly Readonly<Record<string, unknown>>[], folder: string): string {
  const said = lines
    .map(({ said }) => said)
    .filter((text) => typeof text === "string" && text.startsWith("idv: "));
  const last = String(said.at(-1) ?? "idv: the list cannot be checked").slice("idv: ".length);
  return last.replaceAll(`${folder}/`, "").replaceAll("./", "");
}

async function sizeOf(folder: string): Promise<number> {
  const names = await readdir(folder, { recursive: true }).catch(() => []);
  const sizes = names.map((name) =>
    stat(join(folder, name)).then(
      ({ size }) => size,
      () => 0,
    ),
  );
  return (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
}
