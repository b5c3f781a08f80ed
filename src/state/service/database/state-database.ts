/** A state in a SQLite file that any number of processes on one machine may share. */
import { isEmptied } from "../../../files/found.js";
import type { Work } from "../../sql.js";
import { damaged, type LockWait, type Schema } from "../../sqlite/database.js";
import { translate } from "../../sqlite/dialect.js";
import { openFile, StateFile } from "../../sqlite/state-file.js";
import type { ServiceDatabase } from "./database.js";
import { tables } from "./tables.js";

const schema: Schema = {
  name: "state file",
  // "idvs"
  applicationId: 0x69647673,
  tables: translate(tables),
};

/** A file that is made for one quota, which has no name. */
const quotaSchema: Schema = {
  ...schema,
  name: "quota file",
  tables: `${schema.tables};\nINSERT INTO quota (id, name) VALUES ('file', '')`,
};

/** @throws StoreError when the state cannot be opened */
export async function openStateFile(
  path: string,
  now: () => number,
  { isQuota = false, ...wait }: LockWait & { readonly isQuota?: boolean } = {},
): Promise<StateDatabase> {
  const own = isQuota ? quotaSchema : schema;
  // As a new file, it would have no limits and no keys.
  if (isEmptied(path, now())) throw damaged(path, own, "empty");
  return new StateDatabase(await openFile(path, own, now, wait));
}

export class StateDatabase extends StateFile implements ServiceDatabase {
  readonly isServer = false;

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

  inOne(use: "read" | "write", work: (run: <Result>(work: Work<Result>) => Promise<Result>) => Promise<void>) {
    return this.inLongTransaction(use === "read" ? "BEGIN" : "BEGIN IMMEDIATE", () =>
      work(async (each) => this.work(each)),
    );
  }

  async examine(): Promise<void> {
    const { database, path } = this.file;
    const [found] = (await this.inRead(() => database.prepare("PRAGMA quick_check(1)").all())) as [object];
    if (Object.values(found)[0] !== "ok") throw damaged(path, schema);
    await this.checkWritable();
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
