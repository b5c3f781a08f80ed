/**
 * Packages with native code, for versions of Node.js that lack what is in them. The package of idv for this platform has
 * them; in a clone they are in node_modules.
 *
 * A package of each platform is an optional dependency that old versions of Node.js alone accept (`engines`): newer ones have
 * SQLite and zstd themselves.
 */
import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { arch, platform } from "node:process";

const load = createRequire(import.meta.url);

/** The package for this platform. */
const packageName = `@idv/native-${platform}-${arch}`;
/** What to do where there is none, in a sentence. */
export const nativeAdvice = `install ${packageName}, or use Node.js 22.22.3, 24.15 or newer`;

/**
 * Takes the native code of the package alone, whose other parts idv does not use: to resolve and to compile them takes 7 ms, a
 * thirtieth of a small run. Where it is not in its usual place, as with Yarn Plug'n'Play or if it was compiled here, the package
 * finds it. @throws an error of Node.js, or of node-gyp-build where there is none for this platform
 */
export function nativeSqlite(): Pick<typeof import("@photostructure/sqlite"), "DatabaseSync"> {
  const name = "@photostructure/sqlite";
  const libc = existsSync("/etc/alpine-release") ? "musl" : "glibc";
  const file = join(name, `prebuilds/${platform}-${arch}/@photostructure+sqlite.${libc}.node`);
  const folders = load.resolve.paths(name) ?? [];
  const places = folders.flatMap((folder) => [join(folder, packageName, "node_modules", file), join(folder, file)]);
  const place = places.find((each) => existsSync(each));
  if (place !== undefined) return load(place);
  try {
    return load(packageName).sqlite();
  } catch {
    return load(name);
  }
}

/** @throws an error of Node.js, or of node-gyp-build where there is none for this platform */
export async function nativeZstd(): Promise<typeof import("@cloudpss/zstd/napi")> {
  try {
    return await load(packageName).zstd();
  } catch {
    return import("@cloudpss/zstd/napi");
  }
}
