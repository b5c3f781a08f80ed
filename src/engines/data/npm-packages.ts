/** Fetches npm packages from their registry, over HTTP. */
import { createHash } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { parsedJson } from "../../core/table/json/json-values.js";
import { ServiceError } from "../../core/validator/errors.js";
import { type HttpAnswer, type HttpOptions, openHttpClient, TransportFault } from "../api/http.js";
import { withoutSecrets } from "./fetch-list.js";

export class MissingPackage extends ServiceError {}

export interface PackageVersion {
  readonly name: string;
  readonly version: string;
  readonly licence: string;
  readonly published: string;
  readonly integrity: string;
  readonly tarball: string;
}

export type WantedFile = PackageVersion & { readonly file: string };

export interface RegistryOptions {
  readonly url: string;
  /** Sent to the registry's own origin only. */
  readonly authorization?: string | undefined;
  readonly proxiesFor: (url: string) => HttpOptions["proxies"];
}

export const answerTime = 20_000;
/** Limits on one document or tarball, in milliseconds and in bytes: eight times the largest today. */
const longest = 120_000;
const mostBytes = 67_108_864;
const mostRedirects = 5;
const retryDelay = 1000;

export type Registry = ReturnType<typeof openRegistry>;

export function openRegistry({ url: base, authorization, proxiesFor }: RegistryOptions) {
  const client = openHttpClient({ connections: 4, timeout: longest, proxies: proxiesFor(base) });

  async function get(url: string, accept: string): Promise<HttpAnswer<Uint8Array>> {
    let at = url;
    for (let redirects = 0; ; redirects++) {
      const isOwn = new URL(at).origin === new URL(base).origin;
      const fields = { accept, ...(isOwn && authorization !== undefined && { authorization }) };
      const answer = await client.getBytes({ url: at, fields, maximumBytes: mostBytes });
      const { location } = answer.fields;
      const isElsewhere = answer.status >= 301 && answer.status <= 308 && typeof location === "string";
      if (!isElsewhere || redirects === mostRedirects) return answer;
      at = new URL(location, at).href;
    }
  }

  /** Tries a failed connection once more. */
  async function fetchBytes(url: string, accept: string): Promise<Uint8Array> {
    const fault = (what: string) => `${withoutSecrets(url)}: ${what}; the data in use is unchanged`;
    const answer = await get(url, accept)
      .catch(async (error: unknown) => {
        if (!(error instanceof TransportFault && error.isTransient)) throw error;
        await sleep(retryDelay);
        return get(url, accept);
      })
      .catch((error: unknown) => {
        throw error instanceof TransportFault ? new ServiceError(fault(error.message)) : error;
      });
    if (answer.status === 404) throw new MissingPackage(fault("answers 404"));
    if (answer.status !== 200) throw new ServiceError(fault(`answers ${answer.status}`));
    if (answer.body === undefined) throw new ServiceError(fault("answers with over 64 MiB"));
    return answer.body;
  }

  return {
    /** @throws MissingPackage when the registry lacks it; ServiceError when it does not answer, or without a release */
    async findLatest(name: string): Promise<PackageVersion> {
      const bytes = await fetchBytes(new URL(name.replace("/", "%2f"), base).href, "application/json");
      const { version, license, time, dist } = latestIn(bytes);
      const { tarball, integrity: sum } = dist ?? {};
      if (version === undefined || !/^\d+\.\d+\.\d+$/.test(version) || tarball === undefined) {
        throw new ServiceError(`${name}: the registry gave no release version; the data in use is unchanged`);
      }
      const licence = typeof license === "string" ? license : "unknown";
      const published = /^\d{4}-\d{2}-\d{2}/.exec(time?.[version] ?? "")?.[0] ?? "";
      return { name, version, licence, published, integrity: sum ?? "", tarball: new URL(tarball, base).href };
    },
    /** @throws ServiceError when a download fails, its checksum is wrong, or a file is missing */
    downloadFiles: (wanted: readonly WantedFile[]): Promise<readonly Uint8Array[]> =>
      Promise.all(wanted.map(async (one) => extractFile(one, await fetchBytes(one.tarball, "*/*"), one.file))),
    close: () => client.close(),
  };
}

interface Manifest {
  readonly version?: string;
  readonly license?: unknown;
  readonly dist?: { readonly tarball?: string; readonly integrity?: string };
}

function latestIn(bytes: Uint8Array): Manifest & { readonly time?: Readonly<Record<string, string>> } {
  const document = (parsedJson(Buffer.from(bytes).toString()) ?? {}) as {
    readonly "dist-tags"?: { readonly latest?: string };
    readonly versions?: Readonly<Record<string, Manifest>>;
    readonly time?: Readonly<Record<string, string>>;
  };
  const { time } = document;
  return { ...document.versions?.[document["dist-tags"]?.latest ?? ""], ...(time && { time }) };
}

export async function extractFile(
  { name, version, integrity }: Pick<PackageVersion, "name" | "version" | "integrity">,
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
