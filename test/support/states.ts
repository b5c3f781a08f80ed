/** States of a service in a database, and what the commands of idv say of them. */
import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { expect } from "vitest";
import { hasPostgres, startPostgres } from "./postgres.js";
import { idv } from "./run-idv.js";
import type { RunSettings } from "./run-settings.js";
import { temporaryFolder } from "./temporary-folder.js";
import { isFull } from "./tier.js";

/** Returns the kinds of databases by name, each with what makes a new one: PostgreSQL in the full tier, where there is one. */
export async function databases(): Promise<readonly (readonly [string, () => string | Promise<string>])[]> {
  const postgres = hasPostgres && isFull ? await startPostgres() : undefined;
  const sqlite = ["SQLite", () => join(temporaryFolder(), "service.db")] as const;
  return postgres ? [sqlite, ["PostgreSQL", postgres.create]] : [sqlite];
}

/** Returns the values of lines of JSON. */
// biome-ignore lint/suspicious/noExplicitAny: their types are for the tests to check.
export const jsonLines = (text: string): any[] =>
  text.split("\n").flatMap((line) => (line === "" ? [] : [JSON.parse(line)]));

/** Runs a command with --json. Returns the values that it prints, a line each. */
export const jsonOf = async (args: readonly string[], settings: RunSettings = {}) =>
  jsonLines((await idv([...args, "--json"], settings)).stdout);

/** Creates a key with a name of its own, and returns its secret. */
export async function createKeyIn(state: string, ...args: readonly string[]): Promise<string> {
  const { stdout, stderr } = await idv(["keys", "create", "--name", randomUUID(), "--state", state, ...args]);
  expect(stdout, stderr).toMatch(/^sk_/);
  return stdout.trim();
}

/** Returns the units in the usage of a state. */
export const usageIn = async (state: string): Promise<number> =>
  (await jsonOf(["usage", "--state", state])).reduce((sum, { units }) => sum + units, 0);
