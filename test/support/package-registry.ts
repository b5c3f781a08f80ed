/** A registry of packed packages on loopback, from which npm installs as from the public one. */
import { createHash } from "node:crypto";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { basename } from "node:path";
import { parseTarGzip } from "nanotar";

/** @param tarballs paths of `.tgz` files, as `npm pack` makes them */
export async function servePackages(tarballs: readonly string[]): Promise<{ readonly url: string; close(): void }> {
  const bytesOf = new Map(tarballs.map((path) => [basename(path), readFileSync(path)]));
  const server = createServer((request, response) => {
    const name = decodeURIComponent(request.url!.slice(1));
    const found = name.startsWith("-/") ? bytesOf.get(name.slice(2)) : packuments.get(name);
    if (found === undefined) response.statusCode = 404;
    response.end(found);
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  const packuments = new Map<string, string>();
  for (const [file, bytes] of bytesOf) {
    const files = await parseTarGzip(bytes);
    const manifest = JSON.parse(files.find((each) => each.name === "package/package.json")!.text);
    const { name, version } = manifest;
    const integrity = `sha512-${createHash("sha512").update(bytes).digest("base64")}`;
    const dist = { tarball: `${url}-/${file}`, integrity };
    const versions = { [version]: { ...manifest, dist } };
    packuments.set(name, JSON.stringify({ name, "dist-tags": { latest: version }, versions }));
  }
  const close = () => {
    server.closeAllConnections();
    server.close();
  };
  return { url, close };
}
