/**
 * Reads a Parquet file as CSV and writes one from CSV, with DuckDB, which users install beside idv. A file that is
 * returned is read once more: its rows get the added fields, and its columns their types. Knows neither items nor options.
 */
import { createReadStream } from "node:fs";
import { rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import type { DuckDBAppender, DuckDBConnection, DuckDBInstance } from "@duckdb/node-api";
import { ChoiceError, cannotWrite, FileError } from "../files/errors.js";
import { newPrivateFolder, removeAbandonedFolders } from "../files/temporary-files.js";
import { TableError } from "./errors.js";
import { quoteField } from "./quotes.js";
import { type AddedColumns, type RowBatches, removedRow } from "./spreadsheet/sheet.js";
import type { OpenSheet, WriteRows } from "./spreadsheet/workbook.js";

/** Rows that are handed to DuckDB at once: the length of its vectors. */
const vectorRows = 2048;
/** Names of the codecs in the metadata of files that have other names in COPY. */
const codecs: Readonly<Record<string, string>> = { LZ4: "LZ4_RAW", LZO: "SNAPPY" };
/** Describes the columns in Arrow's own words, and would contradict the added ones. */
const arrowSchema = "ARROW:schema";

/**
 * Opens a Parquet file as a sheet of texts: a header with the names of its columns, then its rows. Lists and structures
 * are JSON, missing values are empty.
 *
 * @param name the file's name in errors
 * @param signal aborting it ends the reading with the signal's reason
 * @throws ChoiceError if DuckDB is not installed
 * @throws TableError if the file is damaged; also from the iteration
 */
export async function openParquet(name: string, path: string, signal: AbortSignal): Promise<OpenSheet> {
  const duckdb = await load(name);
  // These characters would stand for other files.
  const file = literal(resolve(path).replace(/[*?[]/g, "[$&]"));
  const rowsOf = `read_parquet(${file}, hive_partitioning = false)`;
  const opened = await versionOf(path);
  const database = await Database.open(duckdb, ":memory:", signal);
  const explain = (error: unknown): never => {
    database.close();
    signal.throwIfAborted();
    throw error instanceof TableError
      ? error
      : new TableError(`${name}: cannot be read as Parquet: ${lineOf(error)}`);
  };
  const columns = await database
    .rows(`SELECT ${hexOf("column_name")}, column_type FROM (DESCRIBE FROM ${rowsOf})`)
    .catch(explain);
  const names = columns.map(([column]) => fromHex(column));
  const known = (
    await database.rows(`SELECT ${hexOf("name")} FROM parquet_schema(${file})`).catch(explain)
  ).map(([column]) => fromHex(column));
  const counts = await database.rows(`SELECT num_rows FROM parquet_file_metadata(${file})`).catch(explain);
  const length = Number(counts[0]?.[0]);
  async function* bytes() {
    try {
      yield Buffer.from(`${names.map((column) => quoteField(column, ",")).join(",")}\n`);
      const fields = columns.map(([, type], i) => textOf(nameOf(names[i]!), String(type)));
      // A chain of || may not be longer than 1,000.
      const line = fields.length === 1 ? fields[0] : `concat_ws(',', ${fields.join(", ")})`;
      let count = 0;
      for await (const lines of database.lines(`SELECT ${line} FROM ${rowsOf}`)) {
        count += lines.length;
        yield Buffer.from(`${lines.join("\n")}\n`);
      }
      // DuckDB ends a stream of rows early, without an error, if a later part of the file is damaged.
      if (count !== length) {
        throw new TableError(
          `${name}: cannot be read as Parquet: ${count.toLocaleString("en")} of its ${length.toLocaleString("en")} rows can be read; it is damaged, or has changed`,
        );
      }
    } catch (error) {
      explain(error);
    } finally {
      database.close();
    }
  }
  return {
    format: "parquet",
    name: "",
    isHidden: false,
    others: [],
    bytes: bytes(),
    hiddenRows: () => 0,
    emptyFormulas: () => undefined,
    widthBelow: async () => names.length,
    lacksValues: async () => false,
    addColumns: async (added) => {
      const renamed = names.find((column) => !known.includes(column));
      if (renamed !== undefined) {
        throw new ChoiceError(
          `${name}: two of its columns have the name of "${renamed.replace(/_\d+$/, "")}"; write CSV with -o FILE.csv`,
        );
      }
      const checkUnchanged = async (count = length) => {
        if (count === length && (await versionOf(path)) === opened) return;
        throw new TableError(`${name}: has changed while it was read; run idv again`);
      };
      return (batches) =>
        withColumns(duckdb, { file, rowsOf, names, checkUnchanged, signal }, added, batches);
    },
  };
}

/**
 * Makes a Parquet file. All its columns are texts: numbers such as post codes keep their zeros. Rows that are wider than
 * the header add columns.
 *
 * @param name the file's name in errors
 * @param names names of the columns; undefined if the first row has them
 * @throws ChoiceError if DuckDB is not installed
 */
export async function newParquet(name: string, names?: readonly string[]): Promise<WriteRows> {
  const duckdb = await load(name);
  const signal = new AbortController().signal;
  return (batches) =>
    inFolder(duckdb, signal, async function* write(database, folder) {
      let rows = names && (await TextTable.create(duckdb, database, freeNames(names)));
      for await (const batch of batches) {
        for (const row of batch) {
          if (rows === undefined) rows = await TextTable.create(duckdb, database, freeNames(row));
          else await rows.add(row);
        }
      }
      if (rows === undefined)
        throw new TableError(`${name}: a Parquet file needs a column, and there is no row`);
      await rows.end();
      yield* copied(database, folder, `SELECT * FROM ${table}`, "");
    });
}

async function* withColumns(
  duckdb: DuckDB,
  source: {
    /** Its path, as a literal of SQL. */
    readonly file: string;
    /** Its rows, as a table of SQL. */
    readonly rowsOf: string;
    readonly names: readonly string[];
    /** Throws a TableError if the file is not the one that the rows were read from, or has another number of rows. */
    readonly checkUnchanged: (rows?: number) => Promise<void>;
    readonly signal: AbortSignal;
  },
  { names: added, indices }: AddedColumns,
  batches: RowBatches,
): AsyncGenerator<Uint8Array> {
  const { file, rowsOf, names, checkUnchanged, signal } = source;
  yield* inFolder(duckdb, signal, async function* write(database, folder) {
    const own = added.map((_, i) => `added ${i}`);
    const rows = await TextTable.create(duckdb, database, ["is kept", ...own]);
    let isHeader = true;
    for await (const batch of batches) {
      for (const row of batch) {
        const isKept = row[0] !== removedRow;
        if (!isHeader) await rows.add([isKept ? "1" : "", ...indices.map((index) => row[index] ?? "")]);
        isHeader = false;
      }
    }
    await rows.end();
    await checkUnchanged(rows.length);
    const columns = names.map((column, i) => {
      const index = indices.indexOf(i);
      return index === -1 ? `source.${nameOf(column)}` : `added.${nameOf(own[index]!)} AS ${nameOf(column)}`;
    });
    for (const [i, column] of added.entries()) {
      if (indices[i]! >= names.length) columns.push(`added.${nameOf(own[i]!)} AS ${nameOf(column)}`);
    }
    const query = `SELECT ${columns.join(", ")} FROM ${rowsOf} AS source POSITIONAL JOIN ${table} AS added WHERE added."is kept" = '1'`;
    yield* copied(database, folder, query, await layoutOf(database, file), checkUnchanged);
  });
}

/** Returns the options of COPY that give a file the compression, the row groups and the metadata of another. */
async function layoutOf(database: Database, file: string): Promise<string> {
  const [[codec] = [null]] = await database.rows(`SELECT compression FROM parquet_metadata(${file}) LIMIT 1`);
  const [[rows, groups] = [0, 0]] = await database.rows(
    `SELECT num_rows, num_row_groups FROM parquet_file_metadata(${file})`,
  );
  const metadata = await database.rows(
    `SELECT decode(key), hex(value) FROM parquet_kv_metadata(${file}) WHERE key <> ${literal(arrowSchema)}::BLOB`,
  );
  const options = [];
  if (codec !== null) options.push(`COMPRESSION ${codecs[String(codec)] ?? codec}`);
  if (Number(groups) > 0)
    options.push(`ROW_GROUP_SIZE ${Math.max(1, Math.ceil(Number(rows) / Number(groups)))}`);
  if (metadata.length > 0) {
    const pairs = metadata.map(([key, value]) => `${literal(String(key))}: ${blob(String(value))}`);
    options.push(`KV_METADATA {${pairs.join(", ")}}`);
  }
  return options.map((option) => `, ${option}`).join("");
}

async function* copied(
  database: Database,
  folder: string,
  query: string,
  options: string,
  check: () => Promise<void> = async () => {},
) {
  const path = join(folder, "rows.parquet");
  await database.run(`COPY (${query}) TO ${literal(path)} (FORMAT parquet${options})`);
  await check();
  yield* createReadStream(path) as AsyncIterable<Uint8Array>;
}

/** Calls `work` with a database in a private folder, which is removed afterwards: it has statuses, or a whole table. */
async function* inFolder(
  duckdb: DuckDB,
  signal: AbortSignal,
  work: (database: Database, folder: string) => AsyncGenerator<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  await removeAbandonedFolders();
  const folder = await newPrivateFolder().catch((error: unknown) => {
    throw cannotWrite(`temporary folder ${tmpdir()}`, error);
  });
  try {
    const database = await Database.open(duckdb, join(folder, "rows.db"), signal);
    try {
      yield* work(database, folder);
    } catch (error) {
      signal.throwIfAborted();
      // The full disk of the database, for example; another one is chosen with TMPDIR.
      throw /^(?:IO|Out of Memory|TransactionContext) Error/.test(lineOf(error))
        ? new FileError(`temporary folder ${tmpdir()}: ${lineOf(error)}`)
        : error;
    } finally {
      database.close();
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

type DuckDB = typeof import("@duckdb/node-api");

async function load(name: string): Promise<DuckDB> {
  try {
    return await import("@duckdb/node-api");
  } catch (error) {
    const { code = "" } = error as NodeJS.ErrnoException;
    if (!["ERR_MODULE_NOT_FOUND", "MODULE_NOT_FOUND"].includes(code)) throw error;
    throw new ChoiceError(
      `${name}: Parquet needs DuckDB; install it beside idv: npm install @duckdb/node-api (with -g if idv is), or use CSV`,
    );
  }
}

/** A database of DuckDB that loads no extension, so that it never uses the network. */
class Database {
  readonly #instance: DuckDBInstance;
  readonly connection: DuckDBConnection;
  readonly #signal: AbortSignal;
  readonly #stop = () => this.connection.interrupt();
  #isOpen = true;

  private constructor(instance: DuckDBInstance, connection: DuckDBConnection, signal: AbortSignal) {
    this.#instance = instance;
    this.connection = connection;
    this.#signal = signal;
    signal.addEventListener("abort", this.#stop);
  }

  static async open({ DuckDBInstance }: DuckDB, path: string, signal: AbortSignal): Promise<Database> {
    const instance = await DuckDBInstance.create(path, {
      autoinstall_known_extensions: "false",
      autoload_known_extensions: "false",
      memory_limit: "1GB",
    });
    const database = new Database(instance, await instance.connect(), signal);
    // Times with a zone would be told in that of this machine.
    await database.run("SET TimeZone = 'UTC'");
    return database;
  }

  async run(sql: string): Promise<void> {
    await this.connection.run(sql);
  }

  async rows(sql: string): Promise<unknown[][]> {
    return (await this.connection.runAndReadAll(sql)).getRows();
  }

  /** Yields the texts of the only column of a query as lines. */
  async *lines(sql: string): AsyncGenerator<readonly unknown[]> {
    const result = await this.connection.stream(sql);
    for (;;) {
      const chunk = await result.fetchChunk();
      if (chunk === null || chunk.rowCount === 0) return;
      yield chunk.getColumnValues(0);
    }
  }

  close(): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    this.#signal.removeEventListener("abort", this.#stop);
    this.connection.closeSync();
    this.#instance.closeSync();
  }
}

const table = '"added rows"';

/** A table of texts. Empty texts are missing values. */
class TextTable {
  length = 0;
  readonly #duckdb: DuckDB;
  readonly #database: Database;
  readonly #names: string[];
  #appender: DuckDBAppender;
  #columns: (string | null)[][];

  private constructor(
    duckdb: DuckDB,
    database: Database,
    names: readonly string[],
    appender: DuckDBAppender,
  ) {
    this.#duckdb = duckdb;
    this.#database = database;
    this.#names = [...names];
    this.#appender = appender;
    this.#columns = names.map(() => []);
  }

  static async create(duckdb: DuckDB, database: Database, names: readonly string[]): Promise<TextTable> {
    await database.run(
      `CREATE TABLE ${table} (${names.map((name) => `${nameOf(name)} VARCHAR`).join(", ")})`,
    );
    return new TextTable(duckdb, database, names, await database.connection.createAppender("added rows"));
  }

  async add(fields: readonly string[]): Promise<void> {
    if (fields.length > this.#columns.length) await this.#widen(fields.length);
    for (const [i, column] of this.#columns.entries()) column.push(fields[i] || null);
    this.length++;
    if (this.length % vectorRows === 0) this.#flush();
  }

  async end(): Promise<void> {
    this.#flush();
    this.#appender.closeSync();
  }

  #flush(): void {
    const rows = this.#columns[0]!.length;
    if (rows === 0) return;
    const { DuckDBDataChunk, VARCHAR } = this.#duckdb;
    const chunk = DuckDBDataChunk.create(
      this.#columns.map(() => VARCHAR),
      rows,
    );
    for (const [i, column] of this.#columns.entries()) chunk.setColumnValues(i, column);
    this.#appender.appendDataChunk(chunk);
    this.#columns = this.#columns.map(() => []);
  }

  async #widen(width: number): Promise<void> {
    await this.end();
    while (this.#names.length < width) {
      this.#names.push(freeNames([...this.#names, ""]).at(-1)!);
      await this.#database.run(`ALTER TABLE ${table} ADD COLUMN ${nameOf(this.#names.at(-1)!)} VARCHAR`);
    }
    this.#columns = this.#names.map(() => []);
    this.#appender = await this.#database.connection.createAppender("added rows");
  }
}

/** Returns names of columns, none empty or twice. DuckDB ignores case in names. */
function freeNames(names: readonly string[]): readonly string[] {
  const taken = new Set<string>();
  return names.map((name, index) => {
    const wanted = name.replaceAll("\0", "\ufffd").trim() || `column${index + 1}`;
    let free = wanted;
    for (let nth = 2; taken.has(free.toLowerCase()); nth++) free = `${wanted}_${nth}`;
    taken.add(free.toLowerCase());
    return free;
  });
}

/** Types without commas, quotes and line breaks in their texts. */
const plainTypes =
  /^(?:U?(?:TINY|SMALL|BIG|HUGE)?INT(?:EGER)?|FLOAT|DOUBLE|DECIMAL\(.*\)|BOOLEAN|DATE|TIME.*|UUID)$/;

/** Returns the expression of a column as a field of CSV. */
function textOf(column: string, type: string): string {
  if (plainTypes.test(type)) return `coalesce(${column}::VARCHAR, '')`;
  const text =
    type === "VARCHAR" ? column : /[\])]$/.test(type) ? `to_json(${column})::VARCHAR` : `${column}::VARCHAR`;
  // No added field may be taken for the mark of a row that is taken out.
  const field = `replace(${text}, chr(0), chr(65533))`;
  return `coalesce(CASE WHEN regexp_matches(${text}, '[",\\r\\n]') THEN '"' || replace(${field}, '"', '""') || '"' ELSE ${field} END, '')`;
}

const nameOf = (name: string): string => `"${name.replaceAll('"', '""')}"`;

/** DuckDB's texts lose a byte order mark at their start, with which the name of a first column may begin. */
const hexOf = (text: string): string => `hex(encode(${text}))`;

const fromHex = (hex: unknown): string => Buffer.from(String(hex), "hex").toString("utf8");

/** Returns the bytes that hexadecimal digits stand for, as a literal of SQL. */
const blob = (hex: string): string => `'${hex.replace(/../g, "\\x$&")}'::BLOB`;

const literal = (text: string): string => `'${text.replaceAll("'", "''")}'`;

const lineOf = (error: unknown): string => (error as Error).message.split("\n")[0]!;

/** Returns what is different for another file at the path, and for one that has been written to. */
async function versionOf(path: string): Promise<string> {
  const { dev, ino, size, mtimeNs } = await stat(path, { bigint: true });
  return [dev, ino, size, mtimeNs].join();
}
