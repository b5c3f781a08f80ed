import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll } from "vitest";

/** A request as the server saw it. */
interface SeenRequest {
  readonly path: string;
  readonly headers: IncomingMessage["headers"];
  readonly items: readonly string[];
  readonly body: string;
}

/** What the server does about a request. */
export type Act = (response: ServerResponse, request: SeenRequest) => void;

const servers: Server[] = [];
afterAll(() => {
  for (const server of servers) {
    server.closeAllConnections();
    server.close();
  }
});

/** Has a server listen on a free port of the loopback interface; it ends with the test file. */
export async function listen(server: Server): Promise<string> {
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** A real server over loopback that follows a script: one act for each request, then the last one for ever. */
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

/** Answers with a status and a body of its own, or one that gives every item the status. */
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

/** Ends the connection before, or in the middle of, the answer. */
export const resetBeforeHeaders: Act = (response) => response.destroy();
export const resetMidBody: Act = (response, { items }) => {
  const body = resultsOf(items);
  response.writeHead(200, { "content-type": "application/json", "content-length": String(body.length) });
  response.write(body.slice(0, body.length / 2), () => response.destroy());
};

/** An answer that says the same of every item. */
export function resultsOf(items: readonly string[], status = "ok"): string {
  return JSON.stringify({ emails: Object.fromEntries(items.map((item) => [item, { status }])) });
}
