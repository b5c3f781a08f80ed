import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { readIfPresent, removeFile, writePrivately } from "../../files/private-file.js";
import { StoreError } from "../../store/sqlite.js";
import { configFolder } from "./paths.js";

/** Where the secret is that the cache's hashes are keyed with: away from the cache, so that who has one has not both. */
export const cacheSecretPath = (env: NodeJS.ProcessEnv): string => join(configFolder(env), "cache-secret");

/**
 * The secret, 64 hexadecimal digits; made when there is none.
 *
 * @throws StoreError
 */
export async function readCacheSecret(env: NodeJS.ProcessEnv): Promise<string> {
  const path = cacheSecretPath(env);
  // Two runs may be the first at once: the one that is there counts for both.
  if ((await readIfPresent(path)) === undefined) {
    await writePrivately(path, `${randomBytes(32).toString("hex")}\n`, { ifAbsent: true });
  }
  const secret = (await readIfPresent(path))?.trim() ?? "";
  if (!/^[0-9a-f]{64}$/.test(secret))
    throw new StoreError(`${path}: holds no secret; idv cache clear makes a new one`);
  return secret;
}

/** Forgets the secret: what the cache holds is never found again. */
export async function removeCacheSecret(env: NodeJS.ProcessEnv): Promise<void> {
  await removeFile(cacheSecretPath(env));
}
