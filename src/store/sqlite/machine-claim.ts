/**
 * Claims of state files in a folder that several machines share. There, locks and SQLite's write-ahead log may not reach from one
 * machine to the other (https://sqlite.org/wal.html), so that each would count for itself. One machine at a time uses a file: it
 * leaves a claim beside it, `FILE-machine-N`, and another one takes the file over with the next number when the claim is old.
 * Ages are told by the clock of the folder's server.
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

/** Time in milliseconds after which a claim is old, and after which a machine that uses the file renews it. */
const [oldMilliseconds, renewedMilliseconds] = [120_000, 20_000];

/** Most attempts to claim a file, when others are faster. */
const mostAttempts = 30;
/** Word that never changes, to wait on. */
const sleeper = new Int32Array(new SharedArrayBuffer(4));

/** Kinds of file systems that machines share, by their numbers in statfs(2) of Linux. FUSE may be either. */
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

/** Returns the kind of the file system of a folder, if machines may share it; undefined for a local one. */
export function sharedKindOf(folder: string): string | undefined {
  if (platform !== "linux") return undefined;
  try {
    return sharedKinds.get(statfsSync(folder).type >>> 0);
  } catch {
    return undefined;
  }
}

/** The claim of this machine. */
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
   * Renews the claim if it is not new. Call it before each change.
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
        // Another mount of the folder on this machine is like another machine.
        const here = `${hostname()} ${bootId()} ${statSync(folder).dev}`;
        writeFileSync(own, here, { mode: 0o600 });
        const machine = last === 0 ? undefined : readFileSync(claimOf(last), "utf8");
        if (machine === here) {
          renew(claimOf(last), here);
          // Another machine may have found it old just before.
          if (existsSync(claimOf(last + 1))) throw taken();
        } else {
          const changed = last > 0 ? statSync(claimOf(last)).mtimeMs : 0;
          const isNew = last > 0 && statSync(own).mtimeMs - changed < oldMilliseconds;
          // Not written yet.
          if (isNew && machine === "") throw taken();
          if (isNew) throw this.#inUse(machine!.split(" ")[0]!);
          create(own, claimOf(last + 1), here);
          // Its machine may have renewed it just before.
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

/** Returns an identifier of this start of the machine: hosts may have the same names. */
function bootId(): string {
  try {
    return readFileSync("/proc/sys/kernel/random/boot_id", "latin1").trim();
  } catch {
    return "";
  }
}

/** Returns the error for a claim that another machine, or another process of this one, is making. */
const taken = () => Object.assign(new Error("it is being claimed"), { code: "EEXIST" });

/** Makes a claim, unless there is one. */
function create(own: string, claim: string, here: string): void {
  try {
    linkSync(own, claim);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") throw error;
    // There are no links on some of these file systems.
    writeFileSync(claim, here, { flag: "wx", mode: 0o600 });
  }
}

/** Writes a claim anew in place, so that nobody finds it empty: the time of its change is the server's. */
function renew(claim: string, here: string): void {
  const file = openSync(claim, "r+");
  try {
    writeSync(file, here, 0);
  } finally {
    closeSync(file);
  }
}
