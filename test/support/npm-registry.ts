/** A registry of npm packages on this machine, for `idv data update`. */
import { createHash } from "node:crypto";
import { createServer, type IncomingMessage } from "node:http";
import { createTarGzip } from "nanotar";
import { listen } from "./scripted-server.js";

/** A package with one file besides its manifest; tests falsify it. */
export interface Offer {
  version: string;
  file: string;
  data: string;
  year?: number;
  integrity?: (tarball: Uint8Array) => string;
}

export interface NpmRegistry {
  readonly url: string;
  offers: Map<string, Offer>;
  /** Requests so far, with their fields. */
  readonly requests: IncomingMessage[];
}

export const sha512 = (bytes: Uint8Array) => `sha512-${createHash("sha512").update(bytes).digest("base64")}`;

const tarballs = new Map<string, Uint8Array>();

async function tarballOf({ file, data }: Offer): Promise<Uint8Array> {
  const known = tarballs.get(file + data);
  if (known !== undefined) return known;
  // A fixed time gives the same bytes in every download.
  const packed = await createTarGzip([{ name: `package/${file}`, data }], { attrs: { mtime: 0 } });
  tarballs.set(file + data, packed);
  return packed;
}

/** @param tarballHost origin of the tarballs, to which the registry redirects; its own if undefined */
export async function startNpmRegistry(tarballHost?: string): Promise<NpmRegistry> {
  const state: NpmRegistry = { url: "", offers: new Map(), requests: [] };
  const server = createServer(async (request, response) => {
    state.requests.push(request);
    const [, path = "", download] = request.url?.split("/") ?? [];
    const name = decodeURIComponent(path);
    const offer = state.offers.get(name);
    if (offer === undefined) return response.writeHead(404).end("{}");
    const { version, year = 2030, integrity = sha512 } = offer;
    if (download !== undefined && tarballHost !== undefined) {
      return response.writeHead(302, { location: `${tarballHost}${request.url}` }).end();
    }
    const tarball = await tarballOf(offer);
    if (download !== undefined) return response.end(tarball);
    const url = `http://${request.headers.host}/${path}/list-${version}.tgz`;
    const dist = { tarball: url, integrity: integrity(tarball) };
    response.setHeader("content-type", "application/json");
    return response.end(
      JSON.stringify({
        name,
        "dist-tags": { latest: version },
        versions: { "0.0.1": {}, [version]: { name, version, license: "MIT", dist } },
        time: { [version]: `${year}-01-02T03:04:05.000Z` },
      }),
    );
  });
  return Object.assign(state, { url: `${await listen(server)}/` });
}
