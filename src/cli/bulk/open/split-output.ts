/** The output of `--split`: a folder that gets one new file per status, with the rows of all tables of a run. */
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { ChoiceError, FileError } from "../../../files/errors.js";
import { createFolder } from "../../../files/folders.js";
import { found } from "../../../files/found.js";
import { type FileSink, openOutputFile } from "../../../files/output.js";
import type { SplitSink, TableSink } from "../../../files/table-sink.js";
import { withFolderLock } from "../../../state/sqlite/folder-lock.js";

const lockMilliseconds = 600_000;

interface SplitFile {
  readonly sink: FileSink;
  readonly start: Buffer;
  size: number;
}

/** Files such as `ok.csv`. All appear once durable, or none; the next run refuses what a killed one leaves. */
export class SplitFolder {
  readonly #folder: string;
  readonly #signal: AbortSignal;
  readonly #files = new Map<string, SplitFile>();
  readonly #opening = new Map<string, Promise<SplitFile>>();
  readonly #discarded = new AbortController();
  #tablesLeft: number;
  #hasEnded = false;

  constructor(folder: string, tables: number, signal: AbortSignal) {
    this.#folder = folder;
    this.#tablesLeft = tables;
    this.#signal = signal;
  }

  /** One table at a time; a discarded one leaves the files. The last commit is that of the folder. @throws ChoiceError */
  table(extension: string, convert = (file: TableSink) => file): SplitSink {
    this.#refuseFiles(extension);
    const sizesBefore = new Map([...this.#files].map(([path, { size }]) => [path, size]));
    const files = new Map<string, TableSink>();
    let start = Buffer.of();
    let isOpen = true;
    const end = async (work: () => Promise<void>) => {
      if (!isOpen) return;
      isOpen = false;
      this.#tablesLeft--;
      await work();
    };
    return {
      paths: () => [...this.#files.keys()],
      async write(bytes) {
        start = Buffer.concat([start, bytes]);
      },
      nameOf: (status) => (status || "empty").replace(/[^A-Za-z0-9_-]/g, "_"),
      of: async (name) => {
        const path = join(this.#folder, `${name}.${extension}`);
        const file = await this.#open(path, start);
        if (headerIn(file.start) !== headerIn(start)) {
          throw new FileError(`${path}: its header differs from this table's; split into another folder`);
        }
        const sink = files.get(path) ?? convert(writingInto(file));
        files.set(path, sink);
        return sink;
      },
      prepare: async () => {
        for (const sink of files.values()) await sink.prepare?.();
        if (this.#tablesLeft === 1) await this.#prepare();
      },
      commit: () => end(async () => (this.#tablesLeft === 0 ? this.commit() : undefined)),
      discard: () => end(() => this.#cutTo(sizesBefore)),
    };
  }

  get isLast(): boolean {
    return this.#tablesLeft === 1;
  }

  /** Makes the files appear, unless they have. @throws FileError when one cannot; then none does */
  async commit(): Promise<void> {
    const files = [...this.#files];
    if (files.length === 0 || this.#hasEnded) return;
    await this.#prepare();
    const appeared: string[] = [];
    const paths = files.map(([path]) => path);
    const appear = async () => {
      const other = existing(paths);
      if (other !== undefined) {
        throw new FileError(`${other}: another run has written it meanwhile; split into another folder`);
      }
      for (const [path, { sink }] of files) {
        await sink.commit();
        appeared.push(path);
      }
    };
    const wait = { milliseconds: lockMilliseconds, signal: this.#signal };
    await withFolderLock(this.#folder, wait, appear).catch(async (error: unknown) => {
      for (const path of appeared) await rm(path, { force: true });
      await this.discard();
      throw error;
    });
    this.#hasEnded = true;
  }

  async discard(): Promise<void> {
    // Also stops files that are still being opened, or would be opened later.
    this.#discarded.abort();
    if (!this.#hasEnded) await this.#cutTo(new Map()).catch(() => {});
  }

  #open(path: string, start: Buffer): Promise<SplitFile> {
    const open = async () => {
      this.#discarded.signal.throwIfAborted();
      createFolder(this.#folder);
      const file = { sink: await openOutputFile(path), start, size: start.length };
      // Before the first write, which may fail.
      this.#files.set(path, file);
      await file.sink.write(start);
      return file;
    };
    const opening = this.#opening.get(path) ?? open();
    this.#opening.set(path, opening);
    return opening;
  }

  async #prepare(): Promise<void> {
    for (const { sink } of this.#files.values()) await sink.prepare?.();
  }

  async #cutTo(sizes: ReadonlyMap<string, number>): Promise<void> {
    await Promise.allSettled(this.#opening.values());
    for (const [path, file] of this.#files) {
      const size = sizes.get(path);
      if (size !== undefined) {
        await file.sink.truncate?.(size);
        file.size = size;
        continue;
      }
      this.#files.delete(path);
      this.#opening.delete(path);
      await file.sink.discard();
    }
  }

  #refuseFiles(extension: string): void {
    const own = [...this.#files.keys()].find((path) => path.endsWith(".json"));
    if (own !== undefined && extension === "json") {
      throw new ChoiceError(
        `${own}: cannot append to a JSON document; write JSON Lines with --format jsonl, or split each file into a folder of its own`,
      );
    }
    const other = existing(usualNames.map((name) => join(this.#folder, `${name}.${extension}`)));
    if (other === undefined) return;
    throw new ChoiceError(`${other}: has the rows of another run; empty the folder, or name another one`);
  }
}

const existing = (paths: readonly string[]): string | undefined => paths.find((path) => found(path) !== undefined);

/** Tables with other line breaks, and with or without a byte order mark, go into the same file. */
const headerIn = (start: Buffer): string => start.toString("latin1").replace("\xef\xbb\xbf", "").trimEnd();

const usualNames = ["ok", "alias", "disposable", "fake", "quota_exceeded", "empty"];

const writingInto = (file: SplitFile): TableSink => ({
  async write(bytes) {
    await file.sink.write(bytes);
    file.size += bytes.length;
  },
  commit: async () => {},
  discard: async () => {},
});
