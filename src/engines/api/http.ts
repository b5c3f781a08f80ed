/** Sends single HTTP requests over persistent connections. Knows nothing of items, retries or the quota. */
import { setMaxListeners } from "node:events";
import { buildConnector, EnvHttpProxyAgent, Pool, request } from "undici";
import type { HeaderFields } from "./rate-limit.js";

export interface HttpAnswer<Body = string> {
  readonly status: number;
  readonly fields: HeaderFields;
  readonly body: Body | undefined;
}

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
  readonly maximumBytes: number;
}

export interface HttpClient {
  /** Follows no redirects, which would reveal the key. @throws TransportFault when there is no answer */
  post(request: PostRequest, milliseconds?: number): Promise<HttpAnswer>;
  get(request: Omit<PostRequest, "body">): Promise<HttpAnswer>;
  getBytes(request: Omit<PostRequest, "body">): Promise<HttpAnswer<Uint8Array>>;
  close(): Promise<void>;
}

export interface HttpOptions {
  readonly connections: number;
  /** Limit on the duration of a request with its answer, in milliseconds. */
  readonly timeout: number;
  /** Proxies, in the syntax of HTTP_PROXY, HTTPS_PROXY and NO_PROXY. An empty string means none. */
  readonly proxies: { readonly httpProxy: string; readonly httpsProxy: string; readonly noProxy: string };
}

/** Node itself reads NODE_EXTRA_CA_CERTS. @throws TypeError when a proxy is not a URL */
export function openHttpClient({ connections, timeout, proxies }: HttpOptions): HttpClient {
  // `post` enforces its timeout itself. These limits end what undici continues after an abort, such as CONNECT.
  const tls = { timeout };
  const dispatcher = new EnvHttpProxyAgent({
    ...proxies,
    ...{ connections, connect: tls, proxyTls: tls, requestTls: tls },
    clientFactory: (origin, options) => new Pool(origin, { ...options, headersTimeout: timeout }),
    factory: (origin, { connect, ...options }: Pool.Options) =>
      new Pool(origin, {
        ...options,
        connect: skipInterimAnswers(typeof connect === "function" ? connect : buildConnector(connect ?? {})),
      }),
    ...{ headersTimeout: 0, bodyTimeout: 0, keepAliveTimeout: 20_000 },
  });
  const ended = new AbortController();
  setMaxListeners(0, ended.signal);
  const send = async (
    method: "GET" | "POST",
    { url, body, fields, maximumBytes }: Omit<PostRequest, "body"> & Partial<PostRequest>,
    milliseconds: number,
  ): Promise<HttpAnswer<Buffer>> => {
    const limit = Math.min(milliseconds, timeout);
    const attempt = new AbortController();
    const { signal } = attempt;
    const late = () => attempt.abort(new TransportFault(`no answer in ${Math.round(limit) / 1000} s`, true));
    const timer = setTimeout(late, limit);
    const end = () => attempt.abort(new TransportFault("the run has ended", false));
    ended.signal.addEventListener("abort", end);
    // undici obeys its signal only once the request has a connection, which a proxy may never give it.
    const aborted = new Promise<never>((_, reject) => {
      signal.addEventListener("abort", () => reject(signal.reason));
    });
    const exchange = async () => {
      // Without Accept-Encoding, the response may be compressed (RFC 9110, section 12.5.3).
      const headers = { "accept-encoding": "identity", ...fields };
      const answer = await request(url, { method, dispatcher, headers, body: body ?? null, signal });
      return { status: answer.statusCode, fields: answer.headers, body: await readBody(answer.body, maximumBytes) };
    };
    try {
      return await Promise.race([exchange(), aborted]);
    } catch (error) {
      throw explain(signal.aborted ? signal.reason : error, url);
    } finally {
      clearTimeout(timer);
      ended.signal.removeEventListener("abort", end);
    }
  };
  return {
    post: async (request, milliseconds = timeout) => withText(await send("POST", request, milliseconds)),
    get: async (request) => withText(await send("GET", request, timeout)),
    getBytes: (request) => send("GET", request, timeout),
    async close() {
      ended.abort();
      // Bun answers imports of undici with an agent of its own, without connections to end.
      await dispatcher.destroy?.();
    },
  };
}

/** undici closes the connection at an unrequested `100 Continue`, which clients must accept (RFC 9110 §15.2). */
function skipInterimAnswers(connect: buildConnector.connector): buildConnector.connector {
  return (options, callback) =>
    connect(options, (...connected) => {
      const [, socket] = connected;
      if (socket) {
        const read = socket.read.bind(socket);
        let held: Buffer = Buffer.alloc(0);
        socket.read = () => {
          while (mayBeInterim(held)) {
            const end = held.indexOf("\r\n\r\n");
            const chunk: Buffer | null = end === -1 ? read() : held.subarray(end + 4);
            if (chunk === null) return null;
            held = end === -1 ? Buffer.concat([held, chunk]) : chunk;
          }
          const bytes = held;
          held = Buffer.alloc(0);
          return bytes;
        };
      }
      callback(...connected);
    });
}

function mayBeInterim(bytes: Buffer): boolean {
  const start = bytes.toString("latin1", 0, 12).replace("HTTP/1.0", "HTTP/1.1");
  const isPart = start.length < 12 && "HTTP/1.1 10".startsWith(start);
  return (isPart || /^HTTP\/1\.1 10[02-9]/.test(start)) && bytes.length < longestInterim;
}

/** Length in bytes. undici refuses longer interim answers. */
const longestInterim = 16_384;

async function readBody(body: AsyncIterable<Uint8Array>, maximumBytes: number): Promise<Buffer | undefined> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of body) {
    length += chunk.length;
    if (length > maximumBytes) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** JSON has no byte order mark, but parsers may ignore it (RFC 8259, section 8.1). */
const withText = ({ body, ...answer }: HttpAnswer<Buffer>): HttpAnswer => ({
  ...answer,
  body: body?.toString("utf8").replace(/^\ufeff/, ""),
});

const reasons: Readonly<Record<string, string>> = {
  ECONNREFUSED: "connection refused",
  ECONNRESET: "the connection was reset",
  EPIPE: "the connection was reset",
  UND_ERR_SOCKET: "the connection was closed",
  ENOTFOUND: "no such host",
  EAI_AGAIN: "the host name cannot be resolved at the moment",
  ETIMEDOUT: "the connection timed out",
  UND_ERR_CONNECT_TIMEOUT: "the connection timed out",
  EHOSTUNREACH: "no route to the host",
  ENETUNREACH: "no network",
};

const noTls = "it does not speak TLS on that port";

function explain(error: unknown, url: string): TransportFault {
  if (error instanceof TransportFault) return error;
  const fault = innermost(error);
  const { code = "", message } = fault;
  if (/CERT|SELF_SIGNED|UNABLE_TO_|ERR_TLS/.test(code)) {
    const advice = "set NODE_EXTRA_CA_CERTS to a PEM file with the certificate of its authority";
    return new TransportFault(`its certificate is not trusted (${code}); ${advice}`, false);
  }
  if (/SSL_WRONG_VERSION|SSL_PACKET_LENGTH/.test(code))
    return new TransportFault(`${noTls}; if it is meant to be plain HTTP, write http://`, false);
  const [, refusal] = /Proxy response \((\d+)\)/.exec(message) ?? [];
  if (refusal !== undefined) return new TransportFault(`the proxy answers ${refusal}`, refusal !== "407");
  if (code === "UND_ERR_INVALID_ARG") return new TransportFault(message, false);
  return new TransportFault(proxyIn(fault, new URL(url)) + (reasons[code] ?? `${message} ${code}`.trim()), true);
}

/** Another address than that of the service is that of a proxy. */
function proxyIn({ hostname, address, port }: SocketFault, service: URL): string {
  if (hostname !== undefined) return hostname === service.hostname ? "" : `the proxy ${hostname}: `;
  const own = service.port || (service.protocol === "https:" ? "443" : "80");
  return port === undefined || String(port) === own ? "" : `the proxy ${address}:${port}: `;
}

interface SocketFault {
  readonly code?: string;
  readonly message: string;
  readonly hostname?: string;
  readonly address?: string;
  readonly port?: number;
}

/** Node wraps the failures of a host's addresses in an AggregateError; undici sets `cause`. */
function innermost(error: unknown): SocketFault {
  const { cause, errors } = error as { cause?: unknown; errors?: readonly unknown[] };
  const inner = cause ?? errors?.[0];
  return inner === undefined ? (error as SocketFault) : innermost(inner);
}
