/** The secret key of the hashes in the cache of verdicts. */
import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { readIfPresent, removeFile, writePrivately } from "../../files/private-file.js";
import { StoreError } from "../../state/errors.js";
import { configFolder } from "./paths.js";

/** Kept apart from the cache, so that a leaked cache alone reveals nothing. */
export const cacheSecretPath = (env: NodeJS.ProcessEnv): string => join(configFolder(env), "cache-secret");

/** 64 hexadecimal digits; created if missing. @throws FileError, StoreError */
export async function readCacheSecret(env: NodeJS.ProcessEnv): Promise<string> {
  const path = cacheSecretPath(env);
  // Two first runs may write at once. The first file counts for both, so it is read again below.
  if ((await readIfPresent(path)) === undefined) {
    await writePrivately(path, `${randomBytes(32).toString("hex")}\n`, { ifAbsent: true });
  }
  const secret = (await readIfPresent(path))?.trim() ?? "";
  if (!/^[0-9a-f]{64}$/.test(secret))
    throw new StoreError(`${path}: holds no secret; to remove it, run: idv cache clear`);
  return secret;
}

/** Without the secret, no entry of the cache can be found. */
export const removeCacheSecret = (env: NodeJS.ProcessEnv): Promise<void> => removeFile(cacheSecretPath(env));
