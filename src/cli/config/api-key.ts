/** Finds the key of a service. A message must never show a key. */
import { createReadStream } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { AuthorisationError } from "../../core/validator/errors.js";
import { FileError, readFault } from "../../files/errors.js";
import { readIfPresent } from "../../files/private-file.js";
import { StoreError } from "../../state/errors.js";
import { serviceUrl } from "../options/addresses.js";
import { configFolder } from "./paths.js";
import type { Resolved } from "./settings.js";

/** A stored key is only sent to this service. */
export interface Login {
  readonly baseUrl: string;
  readonly key: string;
}

export const loginPath = (env: NodeJS.ProcessEnv): string => join(configFolder(env), "credentials.json");

/** In milliseconds: a vault may prompt the user first. */
const commandTimeout = 60_000;

/**
 * Precedence: apiKeyFile, IDV_API_KEY, IDV_API_KEY_COMMAND, then `idv login` for its own service only.
 * @throws FileError, StoreError for files, AuthorisationError for a failed command or a wrong key
 */
export async function findApiKey(file: string | undefined, env: NodeJS.ProcessEnv, baseUrl: string | undefined) {
  if (file !== undefined) {
    const text = await readKeyText(createReadStream(file)).catch((error: unknown) => {
      throw new FileError(`${file}: the key cannot be read: ${readFault(error)}`);
    });
    if (text.trim() === "") throw new FileError(`${file}: holds no key; a key is one word of ASCII characters`);
    return checked(text, file);
  }
  if (env["IDV_API_KEY"]) return checked(env["IDV_API_KEY"], "IDV_API_KEY");
  const command = env["IDV_API_KEY_COMMAND"];
  if (command) return checked(await outputOf(command), "IDV_API_KEY_COMMAND");
  const login = await readLogin(env);
  return login !== undefined && (baseUrl === undefined || baseUrl === login.baseUrl)
    ? checked(login.key, "idv login")
    : undefined;
}

/** Does not run the key command, which may prompt the user. */
export async function isKeyConfigured(file: string | undefined, env: NodeJS.ProcessEnv): Promise<boolean> {
  const isNamed = file !== undefined || Boolean(env["IDV_API_KEY"] || env["IDV_API_KEY_COMMAND"]);
  return isNamed || (await readLogin(env)) !== undefined;
}

/** @throws FileError when the file cannot be read, StoreError when `idv login` did not write it */
export async function readLogin(env: NodeJS.ProcessEnv): Promise<Login | undefined> {
  const path = loginPath(env);
  const text = await readIfPresent(path);
  if (text === undefined) return undefined;
  try {
    const { baseUrl, key } = JSON.parse(text) as Partial<Login>;
    if (typeof baseUrl === "string" && typeof key === "string") return { baseUrl: serviceUrl(baseUrl), key };
  } catch {
    // The text may hold a key, so no error shows it.
  }
  throw new StoreError(`${path}: not written by idv login; idv logout removes it`);
}

/** In bytes, longer than any key: a wrong or endless file does no harm. */
const longestText = 65_536;

export async function readKeyText(stream: AsyncIterable<Buffer>): Promise<string> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of stream) {
    chunks.push(chunk);
    length += chunk.length;
    if (length > longestText) break;
  }
  return Buffer.concat(chunks).toString("utf8");
}

/** @throws AuthorisationError when a key is not one word of ASCII characters */
export function checked(text: string, source: string): Resolved<string> {
  const value = text.trim();
  if (/^["'`]/.test(value)) throw new AuthorisationError(`${source}: the key is in quotes; leave them out`);
  if (/^(?:export )?IDV_API_KEY=/.test(value))
    throw new AuthorisationError(`${source}: a name stands before the key; leave it out`);
  if (/^[\x21-\x7e]{1,4096}$/.test(value)) return { value, source };
  const what = value === "" && source === "IDV_API_KEY_COMMAND" ? "the command printed no key" : "holds no key";
  throw new AuthorisationError(`${source}: ${what}; a key is one word of ASCII characters`);
}

async function outputOf(command: string): Promise<string> {
  // Loaded here: loading takes a tenth of the time of a small run.
  const { exec } = await import("node:child_process");
  try {
    // The command must not read standard input, which holds the table.
    const running = promisify(exec)(command, { timeout: commandTimeout });
    running.child.stdin?.end();
    running.child.stderr?.pipe(process.stderr, { end: false });
    return (await running).stdout;
  } catch (error) {
    const { code, killed, signal } = error as { code?: unknown; killed?: boolean; signal?: string };
    const how = typeof code === "number" ? `exit code ${code}` : (signal ?? "too much output");
    const what = killed ? `took more than ${commandTimeout / 1000} s` : `failed: ${how}`;
    throw new AuthorisationError(`IDV_API_KEY_COMMAND: the command ${what}`);
  }
}
