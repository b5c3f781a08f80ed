/**
 * A real PostgreSQL for tests: the server of IDV_TEST_POSTGRES, else one from npm that lives as long as the test file. `none` leaves
 * these tests out.
 */
import { randomBytes } from "node:crypto";
import pg from "pg";
import { afterFile } from "./clean-up.js";
import { isPackaged, startPostgresServer } from "./postgres-server.mjs";
import { temporaryFolder } from "./temporary-folder.js";

const given = process.env["IDV_TEST_POSTGRES"];

/** Whether there is a PostgreSQL for the tests. With CI set, there has to be one. */
export const hasPostgres = given === undefined ? isPackaged : given !== "none";
if (!hasPostgres) {
  const message = "no PostgreSQL for the tests: set IDV_TEST_POSTGRES to the URL of a server";
  if (process.env["CI"]) throw new Error(message);
  process.stderr.write(`\nSKIPPED: ${message}\n\n`);
}

/** A running server. */
export interface PostgresServer {
  /** Creates an empty database and returns its URL. */
  readonly create: () => Promise<string>;
  /** Kills the server as kill -9 does; undefined for a server that is not ours. */
  readonly kill?: () => Promise<void>;
  /** Starts it again, with the same data and port. */
  readonly restart?: () => Promise<void>;
}

/** Starts a server, or connects to the one of IDV_TEST_POSTGRES. */
export async function startPostgres(): Promise<PostgresServer> {
  if (given !== undefined) return { create: () => createDatabase(given) };
  const { url, kill, restart } = await startPostgresServer(temporaryFolder());
  afterFile(kill);
  return { create: () => createDatabase(url), kill, restart };
}

async function createDatabase(url: string): Promise<string> {
  const name = `idv_test_${randomBytes(6).toString("hex")}`;
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query(`CREATE DATABASE ${name}`);
  await client.end();
  const created = new URL(url);
  created.pathname = `/${name}`;
  return created.href;
}
