/**
 * Claims of state files in a folder that several machines share. There, locks and SQLite's write-ahead log may not work
 * across machines (https://sqlite.org/wal.html), so that machines would overlook each other's changes. Therefore one
 * machine at a time uses a file. It creates a claim beside it, `FILE-machine-N`. When the claim is old, another machine
 * takes over by creating the next number. Ages are measured by the clock of the folder's server.
 */
import { randomUUID } from "node:crypto";
import {
  closeSync,
  existsSync,
  linkSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statfsSync,
  statSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { hostname } from "node:os";
import { basename, dirname, join } from "node:path";
import { platform } from "node:process";
import { StoreError } from "../errors.js";

const oldMilliseconds = 120_000;
/** Age at which its machine renews a claim, in milliseconds. */
const renewedMilliseconds = 20_000;

const mostAttempts = 30;
const sleeper = new Int32Array(new SharedArrayBuffer(4));

/** File systems that machines can share, by their numbers in statfs(2) of Linux. FUSE may be shared or local. */
const sharedKinds: ReadonlyMap<number, string> = new Map([
  [0x6969, "NFS"],
  [0x517b, "SMB"],
  [0xff534d42, "SMB"],
  [0xfe534d42, "SMB"],
  [0x0bd00bd0, "Lustre"],
  [0x47504653, "GPFS"],
  [0x00c36400, "CephFS"],
  [0x19830326, "BeeGFS"],
  [0x65735546, "FUSE"],
  [0x01021997, "9p"],
]);

export function sharedKindOf(folder: string): string | undefined {
  if (platform !== "linux") return undefined;
  try {
    return sharedKinds.get(statfsSync(folder).type >>> 0);
  } catch {
    return undefined;
  }
}

export class MachineClaim {
  readonly #path: string;
  readonly #name: string;
  readonly #kind: string;
  #renewed = 0;

  private constructor(path: string, name: string, kind: string) {
    this.#path = path;
    this.#name = name;
    this.#kind = kind;
  }

  /**
   * Claims a file for this machine. Returns undefined for a file on a local disk.
   *
   * @param name of the file in messages
   * @param kind of the file system, if machines may share it
   * @throws StoreError when another machine has used it within two minutes
   */
  static of(path: string, name: string, kind = sharedKindOf(dirname(path))): MachineClaim | undefined {
    if (kind === undefined) return undefined;
    const claim = new MachineClaim(path, name, kind);
    claim.#take();
    return claim;
  }

  /**
   * Renews the claim if it is due. Call it before each change.
   *
   * @throws StoreError when another machine has taken the file over
   */
  stay(): void {
    if (performance.now() - this.#renewed > renewedMilliseconds) this.#take();
  }

  #take(): void {
    const folder = dirname(this.#path);
    const prefix = `${basename(this.#path)}-machine-`;
    const own = join(folder, `.${prefix}${randomUUID()}`);
    for (let attempt = 1; ; attempt++) {
      try {
        const numbers = readdirSync(folder)
          .filter((name) => name.startsWith(prefix))
          .map((name) => Number(name.slice(prefix.length)))
          .filter(Number.isSafeInteger);
        const last = Math.max(0, ...numbers);
        const claimOf = (number: number) => join(folder, `${prefix}${number}`);
        // Another mount of the folder on this machine counts as another machine.
        const here = `${hostname()} ${bootId()} ${statSync(folder).dev}`;
        writeFileSync(own, here, { mode: 0o600 });
        const machine = last === 0 ? undefined : readFileSync(claimOf(last), "utf8");
        if (machine === here) {
          renew(claimOf(last), here);
          // Another machine may have found this claim old just before, and taken over.
          if (existsSync(claimOf(last + 1))) throw taken();
        } else {
          const changed = last > 0 ? statSync(claimOf(last)).mtimeMs : 0;
          const isNew = last > 0 && statSync(own).mtimeMs - changed < oldMilliseconds;
          // The other machine has not written its claim yet.
          if (isNew && machine === "") throw taken();
          if (isNew) throw this.#inUse(machine!.split(" ")[0]!);
          create(own, claimOf(last + 1), here);
          // The other machine may have renewed its claim just before.
          if (last > 0 && statSync(claimOf(last), { throwIfNoEntry: false })?.mtimeMs !== changed) {
            rmSync(claimOf(last + 1), { force: true });
            throw taken();
          }
          for (const number of numbers) rmSync(claimOf(number), { force: true });
        }
        this.#renewed = performance.now();
        return;
      } catch (error) {
        const { code = "" } = error as NodeJS.ErrnoException;
        // Another machine, or another process of this one, was faster.
        if (attempt === mostAttempts || !["EEXIST", "ENOENT"].includes(code))
          throw this.#explained(error as Error);
        Atomics.wait(sleeper, 0, 0, attempt);
      } finally {
        rmSync(own, { force: true });
      }
    }
  }

  #inUse(machine: string): StoreError {
    const advice = "use a shared quota on a database, such as --quota postgres://, or a local path";
    return new StoreError(
      `${this.#path}: the ${this.#name} is in use on ${machine}, and machines cannot share it on ${this.#kind}; ${advice}; or try again 2 min after that machine`,
      { isClaimed: true },
    );
  }

  #explained(error: Error): Error {
    return error instanceof StoreError
      ? error
      : new StoreError(
          `${this.#path}: the ${this.#name} cannot be claimed on ${this.#kind}: ${error.message}`,
          { isClaimed: true },
        );
  }
}

/** Returns an identifier of this boot: hosts may have the same names. */
function bootId(): string {
  try {
    return readFileSync("/proc/sys/kernel/random/boot_id", "latin1").trim();
  } catch {
    return "";
  }
}

const taken = () => Object.assign(new Error("it is being claimed"), { code: "EEXIST" });

function create(own: string, claim: string, here: string): void {
  try {
    linkSync(own, claim);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") throw error;
    // Some of these file systems have no links.
    writeFileSync(claim, here, { flag: "wx", mode: 0o600 });
  }
}

/** Rewrites a claim in place, so that it is never empty. Its modification time comes from the file server's clock. */
function renew(claim: string, here: string): void {
  const file = openSync(claim, "r+");
  try {
    writeSync(file, here, 0);
  } finally {
    closeSync(file);
  }
}
