/**
 * Packages with native code, for versions of Node.js that lack what is in them. The package of idv for this platform has
 * them; in a clone they are in node_modules.
 *
 * A package of each platform is an optional dependency that old versions of Node.js alone accept (`engines`): newer ones have
 * SQLite and zstd themselves.
 */
import { createRequire } from "node:module";
import { arch, platform } from "node:process";

const load = createRequire(import.meta.url);

/** The package for this platform. */
const packageName = `@idv/native-${platform}-${arch}`;
/** What to do where there is none, in a sentence. */
export const nativeAdvice = `install ${packageName}, or use Node.js 22.22.3, or 24.15 or newer, which have their own`;

const inClone = {
  // Not imported: the loader of ECMAScript modules takes 10 ms.
  sqlite: async () => load("@photostructure/sqlite") as typeof import("@photostructure/sqlite"),
  zstd: () => import("@cloudpss/zstd/napi"),
};

/** Its functions throw an error of Node.js, or of node-gyp-build where there is none for this platform. */
export function nativeCode(): typeof inClone {
  try {
    return load(packageName);
  } catch {
    return inClone;
  }
}
