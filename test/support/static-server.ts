/** A server of files on loopback, which records what is asked for. */
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { extname, join } from "node:path";
import { listen } from "./scripted-server.js";

const types: Readonly<Record<string, string>> = {
  ".html": "text/html",
  ".js": "text/javascript",
  ".wasm": "application/wasm",
};

/**
 * Serves the files of a folder, and others given by their paths.
 *
 * @returns the URL without a slash at its end, and the paths asked for so far
 */
export async function serveFiles(
  folder: string,
  others: Readonly<Record<string, string>> = {},
): Promise<{ readonly url: string; readonly asked: string[]; close(): void }> {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    const path = new URL(request.url!, "http://x").pathname;
    asked.push(path);
    const name = path === "/" ? "/index.html" : path;
    try {
      const bytes = others[name] ?? readFileSync(join(folder, name));
      response.setHeader("content-type", types[extname(name)] ?? "application/octet-stream");
      response.end(bytes);
    } catch {
      response.statusCode = 404;
      response.end();
    }
  });
  const close = () => {
    server.closeAllConnections();
    server.close();
  };
  return { url: await listen(server), asked, close };
}
