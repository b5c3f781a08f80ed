/** Fetches npm packages by running npm. Knows nothing about the lists in them. */
import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { ServiceError } from "../validator/errors.js";

export class MissingPackage extends ServiceError {}

export interface PackageVersion {
  readonly name: string;
  readonly version: string;
  readonly licence: string;
  /** `2026-09-21`; empty if the registry gives no date. */
  readonly published: string;
  /** Checksums of the tarball, separated by spaces: `sha512-...`. */
  readonly integrity: string;
}

/**
 * Finds the newest version of a package. Runs npm, so that the user's registry, proxies, certificates and credentials
 * apply.
 *
 * @param signal ends npm; reported as a registry that does not answer
 * @throws ServiceError when npm fails or its answer has no release version
 */
export async function findLatest(name: string, signal: AbortSignal): Promise<PackageVersion> {
  const fields = ["version", "license", "time", "dist.integrity"];
  const answer: unknown = parseJson(name, await npm(name, ["view", `${name}@latest`, ...fields], signal));
  const found = answer as Partial<Record<string, unknown>>;
  const { version, license, time } = found;
  const integrity = found["dist.integrity"];
  if (typeof version !== "string" || !/^\d+\.\d+\.\d+$/.test(version)) {
    throw new ServiceError(`${name}: the registry gave no release version; the data in use is unchanged`);
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

export interface WantedFile extends PackageVersion {
  readonly file: string;
}

/**
 * Downloads packages with one run of npm, and extracts one file of each, in the order of the packages.
 *
 * @throws ServiceError when a download fails, its checksum is wrong, or a file is missing
 */
export async function downloadFiles(wanted: readonly WantedFile[]): Promise<readonly Uint8Array[]> {
  const folder = await mkdtemp(join(tmpdir(), "idv-"));
  try {
    const options = ["--ignore-scripts", "--pack-destination", folder];
    const versions = wanted.map(({ name, version }) => `${name}@${version}`);
    const packed: unknown = parseJson("the lists", await npm("the lists", ["pack", ...versions, ...options]));
    const tarballs = packed as readonly { readonly name?: string; readonly filename?: string }[];
    return await Promise.all(
      wanted.map(async (one) => {
        const { filename = "" } = tarballs.find(({ name }) => name === one.name) ?? {};
        return extractFile(one, await readFile(join(folder, filename)), one.file);
      }),
    );
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** @throws ServiceError when the sha512 sum of the tarball differs from the registry's, or the file is missing */
export async function extractFile(
  { name, version, integrity }: PackageVersion,
  tarball: Uint8Array,
  file: string,
): Promise<Uint8Array> {
  const sum = `sha512-${createHash("sha512").update(tarball).digest("base64")}`;
  if (!integrity.split(" ").includes(sum)) {
    throw new ServiceError(
      `${name} ${version}: the download does not have the sha512 sum that the registry names; ` +
        "the data in use is unchanged",
    );
  }
  const { parseTarGzip } = await import("nanotar");
  const entry = (await parseTarGzip(tarball)).find((entry) => entry.name === `package/${file}`);
  if (entry?.data === undefined) {
    throw new ServiceError(`${name} ${version}: contains no ${file}; the data in use is unchanged`);
  }
  return entry.data;
}

function parseJson(name: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new ServiceError(`${name}: npm returned invalid JSON; the data in use is unchanged`);
  }
}

const execute = promisify(execFile);

/** The registry must have answered once within this time, in milliseconds. */
export const answerTime = 20_000;

/** Retries a failed connection once, soon. By default npm retries for more than a minute. */
const npmOptions = ["--json", "--loglevel=silent", "--fetch-retries=1", "--fetch-retry-mintimeout=1000"];

/**
 * Runs npm in the root folder, which always exists, so that the `.npmrc` of a project does not apply.
 *
 * @param name name of the package or packages, for error messages
 * @throws ServiceError when npm is missing, fails, is ended by the signal, or takes longer than 2 minutes
 */
async function npm(name: string, args: readonly string[], signal?: AbortSignal): Promise<string> {
  try {
    const options = { cwd: "/", timeout: 120_000, maxBuffer: 67_108_864, signal };
    return (await execute("npm", [...args, ...npmOptions], options)).stdout;
  } catch (error) {
    if (signal?.aborted) {
      throw new ServiceError(
        `the npm registry has not answered within ${answerTime / 1000} s; the data in use is unchanged; ` +
          "check the connection, the proxy and: npm config get registry",
      );
    }
    const { code, killed, stdout = "" } = error as { code?: string | number; killed?: true; stdout?: string };
    if (code === "ENOENT") throw new ServiceError("npm is not installed; install it to update the data");
    const reason = killed ? ": not done within 2 minutes" : reasonOf(stdout);
    const message = `${name}: npm failed${reason}; the data in use is unchanged`;
    throw /"E404"/.test(stdout) ? new MissingPackage(message) : new ServiceError(message);
  }
}

/** Returns npm's error message, without the credentials in its URLs. */
function reasonOf(stdout: string): string {
  try {
    const { error } = JSON.parse(stdout) as { error?: { code?: string; summary?: string } };
    const summary = error?.summary?.split("\n")[0]?.replace(/\/\/[^/@\s]*@/g, "//");
    return error ? `: ${[error.code, summary].filter(Boolean).join(", ")}` : "";
  } catch {
    return "";
  }
}
