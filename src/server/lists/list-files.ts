/**
 * The files of lists: for each list a folder, with the list as sent and a folder for each attempt at it. Must not use
 * the state. Lists leave room on the disk, and files are removed before their row: a list that filled the disk kept the
 * state from any change, also from its own removal.
 */
import { createHash, type Hash } from "node:crypto";
import { createWriteStream } from "node:fs";
import { mkdir, readdir, rm, stat, statfs, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import type { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { writtenName } from "../../files/ending.js";
import { firstBytes } from "../../files/found.js";
import type { StoredList } from "../../state/service/lists.js";
import { Refusal } from "../refusal.js";
import type { ListChoices, ResultFile } from "./list-facts.js";

const split = "split";
const reportName = "report.html";
const findingsName = "findings.json";

/** Relative to the folder of the list. */
export type AttemptPaths = {
  readonly output: string;
  readonly split: string;
  readonly report: string;
  readonly findings: string;
};

type CheckedList = Pick<StoredList, "id" | "name" | "attempt" | "choices">;

export class ListFiles {
  readonly #root: string;

  constructor(root: string) {
    this.#root = resolve(root);
  }

  /** Tries to write into the folder. @throws NodeJS.ErrnoException */
  async check(): Promise<void> {
    await mkdir(this.#root, { recursive: true, mode: 0o700 });
    const path = join(this.#root, `.check-${process.pid}`);
    await writeFile(path, "", { mode: 0o600 });
    await rm(path);
  }

  folderOf(id: string): string {
    return join(this.#root, id);
  }

  /** Bytes that lists may still take up; below 0 if they have taken some of the room that others need. */
  async room(): Promise<number> {
    const { bavail, blocks, bsize } = await statfs(this.#root);
    // Some file systems do not know.
    if (blocks === 0) return Number.POSITIVE_INFINITY;
    return bavail * bsize - Math.min(mostReserved, blocks * bsize * reservedShare);
  }

  /** Returns a hash. May leave a part. @throws Refusal when the list is empty or too large, or there is no room */
  async store(
    { id, name }: { readonly id: string; readonly name: string },
    list: Readable,
    mostBytes: number,
    bytes = 0,
  ): Promise<Uint8Array> {
    if (bytes > mostBytes) throw tooLarge(mostBytes);
    const hash = createHash("sha256");
    try {
      if ((await this.room()) < bytes) throw noRoom();
      await mkdir(this.folderOf(id), { mode: 0o700 });
      const file = createWriteStream(join(this.folderOf(id), name), { mode: 0o600, flags: "wx" });
      await pipeline(list, (parts) => this.#withRoom(measured(parts, hash, mostBytes)), file);
    } catch (error) {
      const { code = "" } = error as NodeJS.ErrnoException;
      if (["ENOSPC", "EDQUOT", "EFBIG"].includes(code)) throw noRoom(error);
      if (storageFaults.includes(code)) {
        const text = "The folder for lists cannot be written just now; the server's log says why.";
        throw new Refusal(503, text, { cause: error });
      }
      throw error;
    }
    return hash.digest();
  }

  async *#withRoom(parts: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    let unseen = 0;
    for await (const part of parts) {
      unseen += part.length;
      if (unseen > bytesAtOnce) {
        if ((await this.room()) < 0) throw noRoom();
        unseen = 0;
      }
      yield part;
    }
  }

  /** Returns the hash of a list that is not stored. Throws as `store` does. */
  async hash(list: Readable, mostBytes: number): Promise<Uint8Array> {
    const hash = createHash("sha256");
    for await (const _ of measured(list, hash, mostBytes));
    return hash.digest();
  }

  /** Removes files of other attempts. @throws Refusal when there is no room for a result as large as the list */
  async begin({ id, name, attempt }: CheckedList): Promise<AttemptPaths> {
    const folder = `.${attempt}`;
    const entries = await readdir(this.folderOf(id)).catch((error: NodeJS.ErrnoException) => {
      throw error.code === "ENOENT" ? gone() : error;
    });
    for (const entry of entries) {
      if (/^\.\d+$/.test(entry)) await rm(join(this.folderOf(id), entry), { recursive: true, force: true });
    }
    if ((await this.room()) < (await stat(join(this.folderOf(id), name))).size) throw noRoom();
    await mkdir(join(this.folderOf(id), folder), { mode: 0o700 });
    const pathOf = (file: string) => `${folder}/${file}`;
    return {
      output: pathOf(this.#outputName({ id, name })),
      split: pathOf(split),
      report: pathOf(reportName),
      findings: pathOf(findingsName),
    };
  }

  async resultsOf(list: CheckedList): Promise<readonly ResultFile[]> {
    const { isSplit } = list.choices as ListChoices;
    const names = isSplit ? (await readdir(this.resultPath(list, ""))).sort() : [this.#outputName(list)];
    return Promise.all(names.map(async (name) => ({ name, bytes: (await stat(this.resultPath(list, name))).size })));
  }

  #outputName({ id, name }: Pick<StoredList, "id" | "name">): string {
    return outputName(name, zipKind(firstBytes(join(this.folderOf(id), name), longestStart)));
  }

  resultPath({ id, attempt, choices }: CheckedList, name: string): string {
    const { isSplit } = choices as ListChoices;
    return join(this.folderOf(id), `.${attempt}`, isSplit ? split : "", name);
  }

  reportPath({ id, attempt }: CheckedList): string {
    return join(this.folderOf(id), `.${attempt}`, reportName);
  }

  findingsPath({ id, attempt }: CheckedList): string {
    return join(this.folderOf(id), `.${attempt}`, findingsName);
  }

  async removeAttempt(id: string, attempt: number): Promise<void> {
    await rm(join(this.folderOf(id), `.${attempt}`), { recursive: true, force: true });
  }

  async remove(id: string): Promise<void> {
    await rm(this.folderOf(id), { recursive: true, force: true });
  }

  async sizeOf(id: string): Promise<number> {
    const folder = this.folderOf(id);
    const names = await readdir(folder, { recursive: true }).catch(() => []);
    const sizes = names.map((name) =>
      stat(join(folder, name)).then(
        ({ size }) => size,
        () => 0,
      ),
    );
    return (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
  }
}

async function* measured(parts: AsyncIterable<Buffer>, hash: Hash, mostBytes: number): AsyncGenerator<Buffer> {
  let bytes = 0;
  for await (const part of parts) {
    bytes += part.length;
    if (bytes > mostBytes) throw tooLarge(mostBytes);
    hash.update(part);
    yield part;
  }
  if (bytes === 0) throw new Refusal(400, "The list is empty.");
}

const bytesAtOnce = 262_144;
/** Room that lists leave to others, above all to the state: a share of the disk, and at most so many bytes. */
const reservedShare = 1 / 20;
const mostReserved = 67_108_864;

const storageFaults = ["ENOENT", "ENOTDIR", "EACCES", "EPERM", "EROFS", "EIO", "ESTALE"];

/** In bytes: a header of a zip entry, with its name. */
const longestStart = 1024;

/** What a zip file is, by the name of its first entry; undefined for another file. */
function zipKind(start: Buffer): "xlsx" | "zip" | undefined {
  if (start.length < 30 || start.readUInt32LE(0) !== 0x04034b50) return undefined;
  const first = start.toString("latin1", 30, 30 + start.readUInt16LE(26));
  return /^(?:\[Content_Types\]\.xml$|_rels\/|docProps\/|xl\/)/.test(first) ? "xlsx" : "zip";
}

/**
 * The ending decides the format, unless a zip file has another one. An archive comes back as one; what is only read, such as
 * contacts, becomes CSV.
 */
function outputName(name: string, zip: ReturnType<typeof zipKind>): string {
  const isArchive = /\.zip$/i.test(name);
  const ended = (ending: "xlsx" | "zip") => `checked-${name.replace(/\.\w+(?:\.(?:gz|zst))?$/i, "")}.${ending}`;
  if (zip === "zip" && !/\.(?:zip|xls[xmb]|ods|numbers)$/i.test(name)) return ended("zip");
  if (zip === "xlsx" && isArchive) return ended("xlsx");
  return `checked-${isArchive ? name : writtenName(name)}`;
}

export const removed = (): Refusal => new Refusal(410, "The list was removed.");

export const noRoom = (cause?: unknown): Refusal =>
  new Refusal(507, "There is no room for the list on the server.", { cause });

export const isNoRoom = (error: Error): boolean => error instanceof Refusal && error.statusCode === 507;

const gone = (): Refusal => new Refusal(410, "The list is not on the server any more; send it again.");

const tooLarge = (mostBytes: number): Refusal =>
  new Refusal(
    413,
    `The list is larger than ${Math.floor(mostBytes / 1_048_576)} MiB; check it with idv on the command line.`,
  );
