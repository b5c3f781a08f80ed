/** Starts `idv serve`, creates keys for it and sends it requests. */
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { expect } from "vitest";
import { stateLocation } from "../../src/cli/config/paths.js";
import type { NewKey } from "../../src/state/service/api-key.js";
import { openSqliteServiceStore } from "../../src/state/service/database/sqlite.js";
import type { ServiceStore } from "../../src/state/service/service-store.js";
import { afterFile } from "./clean-up.js";
import { checkAnswer } from "./openapi.js";
import { startIdv } from "./run-idv.js";
import type { RunSettings } from "./run-settings.js";

export interface Service {
  readonly child: ChildProcess;
  readonly url: string;
  /** Standard output so far, which is the log. */
  readonly log: () => string;
  /** Standard error so far. */
  readonly said: () => string;
  /** Kills the process as kill -9 does and waits for its end. */
  readonly kill: () => Promise<void>;
}

/** Starts `idv serve` on a free port over the state in `home`; it is killed after the test file. */
export const serve = (home: string, ...args: string[]): Promise<Service> => serveWith({ home }, ...args);

/** Starts `idv serve` with other variables. */
export async function serveWith(settings: RunSettings, ...args: string[]): Promise<Service> {
  const child = startIdv(["serve", "--port", "0", ...args], settings);
  afterFile(() => child.kill("SIGKILL"));
  let log = "";
  child.stdout?.on("data", (chunk: Buffer) => {
    log += chunk.toString();
  });
  let said = "";
  const url = await new Promise<string>((resolve, reject) => {
    child.once("exit", () => reject(new Error(said)));
    child.stderr?.on("data", (chunk: Buffer) => {
      said += chunk.toString();
      const listening = /listening on (http:\S+)/.exec(said)?.[1];
      if (listening) resolve(listening);
    });
  });
  const kill = async () => {
    const exited = once(child, "exit");
    child.kill("SIGKILL");
    await exited;
  };
  return { child, url, log: () => log, said: () => said, kill };
}

/** Creates a key in the state of `home`, as `idv keys create` does, and returns its secret. */
export function createKey(home: string, key: NewKey = {}): Promise<string> {
  return withKeys(home, async (keys) => (await keys.create(key)).secret);
}

/** Returns the newest key, its used units and those that are left. */
export function lastKey(home: string): Promise<{ id: string; used: number; left: number | null }> {
  return withKeys(home, async (keys) => {
    const { id, quota } = (await keys.list()).at(-1)!;
    return { id, used: quota.used, left: quota.left };
  });
}

async function withKeys<Result>(home: string, work: (keys: ServiceStore) => Promise<Result>): Promise<Result> {
  const path = stateLocation(undefined, { HOME: home, XDG_STATE_HOME: join(home, "state") });
  const keys = await openSqliteServiceStore(path, Date.now);
  try {
    return await work(keys);
  } finally {
    await keys.close();
  }
}

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  // biome-ignore lint/suspicious/noExplicitAny: its type is for the tests to check.
  readonly body: any;
}

/** Sends a request and checks its answer against the service's OpenAPI document. */
export async function request(url: string, init: RequestInit = {}): Promise<Answer> {
  const response = await fetch(url, init);
  const text = await response.text();
  const isJson = response.headers.get("content-type")?.startsWith("application/json") === true;
  const { status, headers } = response;
  const body = isJson ? JSON.parse(text) : undefined;
  const { pathname } = new URL(url);
  expect(checkAnswer({ method: init.method ?? "GET", path: pathname, status, headers, body })).toEqual([]);
  return { status, headers, text, body };
}

/** Posts a body with a key; text and bytes are sent unchanged, other values as JSON. */
export function post(
  url: string,
  key: string,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): Promise<Answer> {
  return request(url, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json", ...headers },
    body: typeof body === "string" || body instanceof Uint8Array ? (body as BodyInit) : JSON.stringify(body),
  });
}
