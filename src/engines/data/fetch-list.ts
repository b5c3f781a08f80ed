/** Fetches a list of names over HTTP. */
import { createHash } from "node:crypto";
import { ServiceError } from "../../core/validator/errors.js";
import { type HttpOptions, openHttpClient, TransportFault } from "../api/http.js";

/** Limits in milliseconds and in bytes: eight times the size of the public list today. */
const usualTimeout = 20_000;
const mostBytes = 8_388_608;

export interface FetchedList {
  readonly text: string;
  readonly etag: string;
  /** Day of the last change, else that of the answer: `2026-08-08`. Empty if the server names neither. */
  readonly published: string;
}

/** Returns undefined if the list still has the validator `etag`. @throws ServiceError when it cannot be had */
export async function fetchList(
  url: string,
  etag: string | undefined,
  proxies: HttpOptions["proxies"],
  timeout = usualTimeout,
): Promise<FetchedList | undefined> {
  const client = openHttpClient({ connections: 1, timeout, proxies });
  try {
    const wanted = { accept: "text/plain, */*", ...(etag !== undefined && { "if-none-match": etag }) };
    const { status, fields, body } = await client.get({ url, fields: wanted, maximumBytes: mostBytes });
    if (status === 304 && etag !== undefined) return undefined;
    if (status !== 200) throw new ServiceError(`${withoutSecrets(url)}: answers ${status}`);
    if (body === undefined) throw new ServiceError(`${withoutSecrets(url)}: the list is over 8 MiB`);
    const digest = `"sha256-${createHash("sha256").update(body).digest("base64")}"`;
    const found = textOf(fields["etag"]) ?? digest;
    if (found === etag) return undefined;
    const date = new Date(textOf(fields["last-modified"]) ?? textOf(fields["date"]) ?? "");
    const published = Number.isNaN(date.getTime()) ? "" : date.toISOString().slice(0, 10);
    return { text: body, etag: found, published };
  } catch (error) {
    if (!(error instanceof TransportFault)) throw error;
    throw new ServiceError(`${withoutSecrets(url)}: ${error.message}`);
  } finally {
    await client.close();
  }
}

const textOf = (field: string | string[] | undefined): string | undefined => (Array.isArray(field) ? field[0] : field);

/** Removes the password or token that a URL may hold, for messages. */
export function withoutSecrets(url: string): string {
  const { origin, pathname } = new URL(url);
  return `${origin}${pathname}`;
}
