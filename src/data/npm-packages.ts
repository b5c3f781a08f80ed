import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { ServiceError } from "../validator/errors.js";

/** The newest version of a package that a registry has. */
export interface PackageVersion {
  readonly name: string;
  readonly version: string;
  readonly licence: string;
  /** `2026-09-21`, or empty where the registry does not say. */
  readonly published: string;
  /** Of the tarball: `sha512-...`. */
  readonly integrity: string;
}

/**
 * Asks the registry that the user's npm configuration names, by npm itself: it knows proxies, certificates and
 * credentials.
 *
 * @throws ServiceError
 */
export async function findLatest(name: string): Promise<PackageVersion> {
  const fields = ["version", "license", "time", "dist.integrity"];
  const answer: unknown = parseJson(name, await npm(name, ["view", `${name}@latest`, ...fields]));
  const found = answer as Partial<Record<string, unknown>>;
  const { version, license, time } = found;
  const integrity = found["dist.integrity"];
  if (typeof version !== "string" || !/^\d+\.\d+\.\d+$/.test(version)) {
    throw new ServiceError(`${name}: the registry names no version; the data in use was left as it is`);
  }
  const published = (time as Partial<Record<string, string>> | undefined)?.[version] ?? "";
  return {
    name,
    version,
    licence: typeof license === "string" ? license : "unknown",
    published: /^\d{4}-\d{2}-\d{2}/.exec(published)?.[0] ?? "",
    integrity: typeof integrity === "string" ? integrity : "",
  };
}

/**
 * Downloads the package and takes a file out of it.
 *
 * @param file its path inside the package
 * @throws ServiceError when it cannot be had, or is not what the registry's metadata says
 */
export async function downloadFile(wanted: PackageVersion, file: string): Promise<Uint8Array> {
  const { name, version, integrity } = wanted;
  const folder = await mkdtemp(join(tmpdir(), "idv-"));
  try {
    const options = ["--ignore-scripts", "--pack-destination", folder];
    const packed: unknown = parseJson(name, await npm(name, ["pack", `${name}@${version}`, ...options]));
    const [{ filename = "" } = {}] = packed as readonly { readonly filename?: string }[];
    const tarball = await readFile(join(folder, filename));
    const sum = `sha512-${createHash("sha512").update(tarball).digest("base64")}`;
    if (!integrity.split(" ").includes(sum)) {
      throw new ServiceError(
        `${name} ${version}: the download does not have the sha512 sum that the registry names; ` +
          "the data in use was left as it is",
      );
    }
    const { parseTarGzip } = await import("nanotar");
    const entry = (await parseTarGzip(tarball)).find((entry) => entry.name === `package/${file}`);
    if (entry?.data === undefined) {
      throw new ServiceError(`${name} ${version}: no ${file} in it; the data in use was left as it is`);
    }
    return entry.data;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function parseJson(name: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new ServiceError(`${name}: npm says what is no JSON; the data in use was left as it is`);
  }
}

const execute = promisify(execFile);

/** Runs npm. In the home folder: a project's configuration is not the user's. */
async function npm(name: string, args: readonly string[]): Promise<string> {
  try {
    const options = { cwd: homedir(), timeout: 120_000, maxBuffer: 67_108_864 };
    return (await execute("npm", [...args, "--json", "--loglevel=silent"], options)).stdout;
  } catch (error) {
    const { code, stdout = "" } = error as { code?: string | number; stdout?: string };
    if (code === "ENOENT") throw new ServiceError("npm is not installed; it fetches the data");
    throw new ServiceError(
      `${name}: npm cannot get it${reasonOf(stdout)}; the data in use was left as it is`,
    );
  }
}

/** npm's own words, without the credentials that an address in them may hold. */
function reasonOf(stdout: string): string {
  try {
    const { error } = JSON.parse(stdout) as { error?: { code?: string; summary?: string } };
    const summary = error?.summary?.split("\n")[0]?.replace(/\/\/[^/@\s]*@/g, "//");
    return error ? `: ${[error.code, summary].filter(Boolean).join(", ")}` : "";
  } catch {
    return "";
  }
}
