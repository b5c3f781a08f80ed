import { setMaxListeners } from "node:events";
import { EnvHttpProxyAgent, Pool, request } from "undici";
import type { HeaderFields } from "./rate-limit.js";

/** What a service answered. */
export interface HttpAnswer {
  readonly status: number;
  readonly fields: HeaderFields;
  /** Undefined when it was longer than it could be. */
  readonly body: string | undefined;
}

/** A request that had no answer: what happened, and whether it may go better next time. */
export class TransportFault extends Error {
  constructor(
    message: string,
    readonly isTransient: boolean,
  ) {
    super(message);
  }
}

interface PostRequest {
  readonly url: string;
  readonly body: string;
  readonly fields: Readonly<Record<string, string>>;
  /** The most that the body of the answer may have. */
  readonly maximumBytes: number;
}

/** Connections to a service. */
export interface HttpClient {
  /**
   * Posts a body. Redirects are not followed: a key is for the service that it was made for.
   *
   * @param milliseconds the longest time that this request may take, where that is less than the timeout of all
   * @throws TransportFault
   */
  post(request: PostRequest, milliseconds?: number): Promise<HttpAnswer>;
  /** Ends all connections; requests in flight fail. */
  close(): Promise<void>;
}

/** How requests are sent. */
export interface HttpOptions {
  /** How many there are at a time at most. */
  readonly connections: number;
  /** Milliseconds from the start of a request to the end of its answer. */
  readonly timeout: number;
  /** What they go through, as in HTTP_PROXY, HTTPS_PROXY and NO_PROXY; empty for nothing. */
  readonly proxies: { readonly httpProxy: string; readonly httpsProxy: string; readonly noProxy: string };
}

/**
 * Opens a client that keeps its connections. The certificates of NODE_EXTRA_CA_CERTS are Node's own business.
 *
 * @throws TypeError when a proxy is no URL
 */
export function openHttpClient({ connections, timeout, proxies }: HttpOptions): HttpClient {
  // `post` ends every request on time by itself. These limits end what undici goes on with when it has lost interest: a
  // connection to a server or proxy, a tunnel, its TLS, and a proxy's answer to CONNECT, which no signal reaches.
  const tls = { timeout };
  const dispatcher = new EnvHttpProxyAgent({
    ...proxies,
    connections,
    connect: tls,
    proxyTls: tls,
    requestTls: tls,
    clientFactory: (origin, options) => new Pool(origin, { ...options, headersTimeout: timeout }),
    headersTimeout: 0,
    bodyTimeout: 0,
    keepAliveTimeout: 20_000,
  });
  const ended = new AbortController();
  setMaxListeners(0, ended.signal);
  return {
    async post({ url, body, fields, maximumBytes }, milliseconds = timeout) {
      const limit = Math.min(milliseconds, timeout);
      const attempt = new AbortController();
      const { signal } = attempt;
      const timer = setTimeout(
        () => attempt.abort(new TransportFault(`no answer in ${Math.round(limit) / 1000} s`, true)),
        limit,
      );
      const end = () => attempt.abort(new TransportFault("the run has ended", false));
      ended.signal.addEventListener("abort", end);
      // undici heeds its signal only once a request has a connection, which a proxy may never grant.
      const aborted = new Promise<never>((_, reject) => {
        signal.addEventListener("abort", () => reject(signal.reason));
      });
      const exchange = async () => {
        const answer = await request(url, { method: "POST", dispatcher, headers: fields, body, signal });
        return {
          status: answer.statusCode,
          fields: answer.headers,
          body: await readBody(answer.body, maximumBytes),
        };
      };
      try {
        return await Promise.race([exchange(), aborted]);
      } catch (error) {
        throw explain(signal.aborted ? signal.reason : error);
      } finally {
        clearTimeout(timer);
        ended.signal.removeEventListener("abort", end);
      }
    },
    async close() {
      ended.abort();
      await dispatcher.destroy();
    },
  };
}

async function readBody(body: AsyncIterable<Uint8Array>, maximumBytes: number): Promise<string | undefined> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  // Leaving the loop ends the connection.
  for await (const chunk of body) {
    length += chunk.length;
    if (length > maximumBytes) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}

const reasons: Readonly<Record<string, string>> = {
  ECONNREFUSED: "connection refused",
  ECONNRESET: "the connection was reset",
  EPIPE: "the connection was reset",
  UND_ERR_SOCKET: "the connection was closed",
  ENOTFOUND: "no such host",
  EAI_AGAIN: "the name of the host cannot be looked up now",
  ETIMEDOUT: "the connection timed out",
  UND_ERR_CONNECT_TIMEOUT: "the connection timed out",
  EHOSTUNREACH: "no route to the host",
  ENETUNREACH: "no network",
};

function explain(error: unknown): TransportFault {
  if (error instanceof TransportFault) return error;
  const { code = "", message } = innermost(error);
  if (/CERT|SELF_SIGNED|UNABLE_TO_|ERR_TLS/.test(code)) {
    return new TransportFault(
      `its certificate is not trusted (${code}); NODE_EXTRA_CA_CERTS names a file of further authorities`,
      false,
    );
  }
  const [, refusal] = /Proxy response \((\d+)\)/.exec(message) ?? [];
  if (refusal !== undefined) return new TransportFault(`the proxy answers ${refusal}`, refusal !== "407");
  if (code === "UND_ERR_INVALID_ARG") return new TransportFault(message, false);
  return new TransportFault(reasons[code] ?? `${message} ${code}`.trim(), true);
}

/** Several addresses of a host, tried in turn, fail with an AggregateError; undici wraps others. */
function innermost(error: unknown): { code?: string; message: string } {
  const { cause, errors } = error as { cause?: unknown; errors?: readonly unknown[] };
  const inner = cause ?? errors?.[0];
  return inner === undefined ? (error as { code?: string; message: string }) : innermost(inner);
}
