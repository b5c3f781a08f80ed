/** A server on this machine for the list that `idv data update` fetches over HTTP. */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { listen } from "./scripted-server.js";

export interface ListServer {
  readonly url: string;
  /** What is answered next; a string is a list. */
  list: string | ((request: IncomingMessage, response: ServerResponse) => void);
  /** The ETag of the list; none if undefined. */
  etag: string | undefined;
  readonly requests: { readonly etag: string | undefined; readonly status: number }[];
}

/** @param names number of names in the list, as in the one in use; they add nothing, since other lists clear them */
export async function startListServer(names = 7): Promise<ListServer> {
  const state: { -readonly [Name in keyof ListServer]: ListServer[Name] } = {
    url: "",
    list: Array.from({ length: names }, (_, i) => `other-${i % ((names * 4) / 7)}.com\n`).join(""),
    etag: '"1"',
    requests: [],
  };
  const server = createServer((request, response) => {
    const { list, etag } = state;
    const asked = request.headers["if-none-match"];
    response.on("close", () => state.requests.push({ etag: asked, status: response.statusCode }));
    if (typeof list !== "string") return list(request, response);
    if (etag !== undefined) response.setHeader("etag", etag);
    if (asked !== undefined && asked === etag) return void response.writeHead(304).end();
    response.setHeader("last-modified", "Mon, 02 Nov 2026 10:00:00 GMT");
    response.end(list);
  });
  state.url = `${await listen(server)}/domains.txt`;
  return state;
}
