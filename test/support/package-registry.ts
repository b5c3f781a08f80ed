/** A registry of packages on loopback, from which npm installs as from the public one, and to which it publishes. */
import { createHash } from "node:crypto";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { basename } from "node:path";
import { json } from "node:stream/consumers";
import { parseTarGzip } from "nanotar";

export interface PackageRegistry {
  readonly url: string;
  /** Names of the tarballs, in the order in which they came. */
  readonly tarballs: () => string[];
  /** Names of packages that are not accepted. */
  readonly refused: Set<string>;
  close(): void;
}

/** @param tarballs paths of `.tgz` files, as `npm pack` makes them */
export async function servePackages(tarballs: readonly string[]): Promise<PackageRegistry> {
  const bytesOf = new Map<string, Buffer>();
  const packuments = new Map<string, string>();
  const refused = new Set<string>();
  const server = createServer(async (request, response) => {
    const name = decodeURIComponent(request.url!.slice(1));
    if (request.method === "PUT") {
      const { _attachments: files } = (await json(request)) as { _attachments: Record<string, { data: string }> };
      if (refused.has(name)) return response.writeHead(403).end('{ "error": "refused" }');
      for (const [file, { data }] of Object.entries(files)) await add(file, Buffer.from(data, "base64"));
      return response.end("{}");
    }
    const found = name.startsWith("-/") ? bytesOf.get(name.slice(2)) : packuments.get(name);
    return response.writeHead(found === undefined ? 404 : 200).end(found ?? "{}");
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  async function add(path: string, bytes: Buffer): Promise<void> {
    const files = await parseTarGzip(bytes);
    const manifest = JSON.parse(files.find((each) => each.name === "package/package.json")!.text);
    const { name, version } = manifest;
    const integrity = `sha512-${createHash("sha512").update(bytes).digest("base64")}`;
    const file = basename(path);
    const versions = { [version]: { ...manifest, dist: { tarball: `${url}-/${file}`, integrity } } };
    bytesOf.set(file, bytes);
    packuments.set(name, JSON.stringify({ name, "dist-tags": { latest: version }, versions }));
  }
  for (const path of tarballs) await add(path, readFileSync(path));
  const close = () => {
    server.closeAllConnections();
    server.close();
  };
  return { url, tarballs: () => [...bytesOf.keys()], refused, close };
}
