/** Serves HTTP over loopback with scripted answers and faults, in place of the service. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterFile } from "./clean-up.js";

/** A request as the server received it. */
interface SeenRequest {
  readonly path: string;
  readonly headers: IncomingMessage["headers"];
  readonly items: readonly string[];
  readonly body: string;
}

/** Reaction of the server to one request. */
export type Act = (response: ServerResponse, request: SeenRequest) => void;

/** Listens on a free loopback port and returns the URL; the server is closed after the test file. */
export async function listen(server: Server): Promise<string> {
  afterFile(() => {
    server.closeAllConnections();
    server.close();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** Starts a server that follows a script: one act for each request, then the last act for all others. */
export async function scriptedServer(...acts: readonly Act[]) {
  const seen: SeenRequest[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const body = Buffer.concat(chunks).toString();
      const { emails, domains } = JSON.parse(body) as Record<string, string[]>;
      const act = acts[Math.min(seen.length, acts.length - 1)]!;
      const { url: path = "", headers } = request;
      const seenRequest = { path, headers, items: emails ?? domains ?? [], body };
      seen.push(seenRequest);
      act(response, seenRequest);
    });
    request.on("error", () => {});
  });
  return { url: await listen(server), seen };
}

/** Answers with the given status and body; the default body gives every item the status ok. */
export function respond(
  status = 200,
  headers: Readonly<Record<string, string>> = {},
  body: string | ((items: readonly string[]) => string) = (items) => resultsOf(items),
): Act {
  return (response, { items }) => {
    response
      .writeHead(status, { "content-type": "application/json", ...headers })
      .end(typeof body === "string" ? body : body(items));
  };
}

/** Closes the connection before the answer. */
export const resetBeforeHeaders: Act = (response) => response.destroy();
/** Closes the connection in the middle of the body. */
export const resetMidBody: Act = (response, { items }) => {
  const body = resultsOf(items);
  response.writeHead(200, { "content-type": "application/json", "content-length": String(body.length) });
  response.write(body.slice(0, body.length / 2), () => response.destroy());
};

/** Returns a body that gives every item the same status. */
export function resultsOf(items: readonly string[], status = "ok"): string {
  return JSON.stringify({ emails: Object.fromEntries(items.map((item) => [item, { status }])) });
}
