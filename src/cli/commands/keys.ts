import {
  type ApiKey,
  type KeyChange,
  KeyStore,
  type Permission,
  UnknownKeyError,
} from "../../store/key-store.js";
import type { Period } from "../../store/period.js";
import { stateFilePath } from "../config/paths.js";
import { UsageError } from "../errors.js";
import { print } from "../terminal/standard-output.js";
import { printable, say } from "../terminal/terminal.js";

/** The options of the `idv keys` commands, as commander gives them. */
export interface KeyOptions {
  readonly state?: string;
  readonly name?: string;
  readonly limit?: number | "none";
  readonly period?: Period;
  /** Milliseconds since the epoch. */
  readonly expires?: number | "never";
  readonly permissions?: readonly Permission[];
  readonly sandbox?: true;
  readonly json?: true;
}

/** Runs `idv keys create`: the secret goes to standard output, where it can be piped into a vault, and nowhere else. */
export async function createKey(options: KeyOptions): Promise<void> {
  const { key, secret } = await withStore(options, (store) =>
    store.create(changeOf(options), options.sandbox === true),
  );
  print(`${secret}\n`);
  say(`key ${key.id} is made; its secret is shown this once`);
}

/** Runs `idv keys list`. */
export async function listKeys(options: KeyOptions): Promise<void> {
  const keys = await withStore(options, (store) => store.list());
  if (options.json) print(keys.map((key) => `${JSON.stringify(describe(key))}\n`).join(""));
  else {
    for (const key of keys) {
      const fields = Object.values(describe(key)).map((value) => printable(String(value ?? "-")));
      print(`${fields.join("\t")}\n`);
    }
  }
}

/** Runs `idv keys set`. */
export async function setKey(id: string, options: KeyOptions): Promise<void> {
  await withStore(options, (store) => store.set(id, changeOf(options)));
  say(`key ${id} is changed`);
}

/** Runs `idv keys revoke`. */
export async function revokeKey(id: string, options: KeyOptions): Promise<void> {
  await withStore(options, (store) => store.revoke(id));
  say(`key ${id} is revoked`);
}

/** Runs `idv keys rotate`: prints the new secret. */
export async function rotateKey(id: string, options: KeyOptions): Promise<void> {
  const { secret } = await withStore(options, (store) => store.rotate(id));
  print(`${secret}\n`);
  say(`key ${id} has a new secret, shown this once; the old one is not good any more`);
}

async function withStore<Result>(
  options: KeyOptions,
  work: (store: KeyStore) => Promise<Result>,
): Promise<Result> {
  const store = await KeyStore.open(stateFilePath(options.state, process.env), Date.now);
  try {
    return await work(store);
  } catch (error) {
    throw error instanceof UnknownKeyError ? new UsageError(error.message) : error;
  } finally {
    await store.close();
  }
}

function changeOf({ name, limit, period, expires, permissions }: KeyOptions): KeyChange {
  return {
    ...(name !== undefined && { name }),
    ...(limit !== undefined && { limit: limit === "none" ? null : limit }),
    ...(period !== undefined && { period }),
    ...(expires !== undefined && { expires: expires === "never" ? null : expires }),
    ...(permissions !== undefined && { permissions }),
  };
}

/** What a list tells of a key; the columns of `idv keys list` in this order. */
function describe({ id, name, permissions, isSandbox, created, expires, revoked, quota }: ApiKey) {
  const date = (time: number | null) => (time === null ? null : new Date(time).toISOString());
  const { limit, period, used, left } = quota;
  return {
    ...{ id, name, kind: isSandbox ? "sandbox" : "live", permissions: permissions.join(",") },
    ...{ limit, period, used, left, renews: date(quota.renewsAt) },
    ...{ created: date(created), expires: date(expires), revoked: date(revoked) },
  };
}
