/** The state of the service in a SQLite file that any number of processes on one machine may share. */

import type { Work } from "../sql.js";
import type { LockWait, Schema } from "../sqlite/database.js";
import { translate } from "../sqlite/dialect.js";
import { openFile, StateFile } from "../sqlite/state-file.js";
import type { ServiceDatabase } from "./database.js";
import { SqlServiceStore } from "./sql-store.js";
import { tables } from "./tables.js";

const schema: Schema = {
  name: "state file",
  // "idvs"
  applicationId: 0x69647673,
  tables: translate(tables),
};

/**
 * Opens the file. Creates it if it is absent.
 *
 * @param now clock in milliseconds since the epoch
 * @throws StoreError
 */
export async function openSqliteServiceStore(
  path: string,
  now: () => number,
  wait: LockWait = {},
): Promise<SqlServiceStore> {
  return new SqlServiceStore(new SqliteServiceDatabase(await openFile(path, schema, now, wait)), now);
}

class SqliteServiceDatabase extends StateFile implements ServiceDatabase {
  readonly runsSideBySide = false;

  get name(): string {
    return this.file.path;
  }

  read<Result>(work: () => Work<Result>): Promise<Result> {
    return this.inRead(() => this.work(work()));
  }

  async write<Result>(work: () => Work<Result>): Promise<Result> {
    this.checkPath();
    return this.inWrite(() => this.work(work()));
  }

  inOne(
    use: "read" | "write",
    work: (run: <Result>(work: Work<Result>) => Promise<Result>) => Promise<void>,
  ): Promise<void> {
    return this.inLongTransaction(use === "read" ? "BEGIN" : "BEGIN IMMEDIATE", () =>
      work(async (each) => this.work(each)),
    );
  }

  async checkWritable(): Promise<void> {
    const { database } = this.file;
    this.checkPath();
    await this.inWrite(() => {
      const [row] = database.prepare("PRAGMA user_version").all() as { user_version: number }[];
      database.exec(`PRAGMA user_version = ${row!.user_version}`);
    });
  }
}
