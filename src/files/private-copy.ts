/** Copies of what has to be read from its end: archives in a pipe, or in another file. */
import { open, rm } from "node:fs/promises";
import { join } from "node:path";
import { cannotWrite, FileError } from "./errors.js";
import { newPrivateFolder, removeAbandonedFolders } from "./temporary-files.js";

/** In bytes, of all copies of a run together: the largest archive that is read (without zip64). */
const mostBytes = 4_294_967_295;

export class PrivateCopies {
  #folder: Promise<string> | undefined;
  #count = 0;
  #bytes = 0;

  constructor(private readonly atEnd: (remove: () => Promise<void>) => Promise<void>) {}

  /** Only this user can read the copy. `name` is for messages. @throws FileError, also when copies become too large */
  async add(name: string, bytes: AsyncIterable<Uint8Array>): Promise<string> {
    try {
      this.#folder ??= this.#newFolder();
      const path = join(await this.#folder, String(this.#count++));
      const file = await open(path, "wx", 0o600);
      try {
        for await (const piece of bytes) {
          this.#bytes += piece.length;
          if (this.#bytes > mostBytes)
            throw new FileError(`${name}: archives in archives or from a pipe exceed 4 GiB; unpack them first`);
          await file.writeFile(piece);
        }
      } finally {
        await file.close();
      }
      return path;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).syscall === undefined) throw error;
      throw cannotWrite(`a copy of ${name}`, error);
    }
  }

  async #newFolder(): Promise<string> {
    await removeAbandonedFolders();
    const folder = await newPrivateFolder();
    await this.atEnd(() => rm(folder, { recursive: true, force: true }));
    return folder;
  }
}
