/** Where `idv serve` listens: an address, a Unix socket, or a socket that systemd has opened. */
import { chmodSync, lstatSync, rmSync } from "node:fs";
import { connect } from "node:net";
import { UsageError } from "../errors.js";

export interface ListenAddress {
  readonly listen:
    | { readonly host: string; readonly port: number }
    | { readonly path: string }
    | { readonly fd: number; readonly host: string };
  readonly name: string;
}

/** First one that systemd passes, https://www.freedesktop.org/software/systemd/man/latest/sd_listen_fds.html */
const firstDescriptor = 3;
const socketMode = 0o660;

/** systemd passes sockets to the process `pid` only. @throws UsageError when it passes more than one */
export function listenAddress(
  { host, port, socket }: { readonly host: string; readonly port: number; readonly socket?: string },
  env: NodeJS.ProcessEnv,
  pid: number,
): ListenAddress {
  const passed = Number(env["LISTEN_FDS"] ?? 0);
  if (env["LISTEN_PID"] === String(pid) && passed > 0) {
    if (passed > 1) throw new UsageError(`systemd passes ${passed} sockets; idv serve takes one`);
    // The host keeps Fastify from looking for further addresses of localhost.
    return { listen: { fd: firstDescriptor, host: "127.0.0.1" }, name: "the socket of systemd" };
  }
  if (socket !== undefined) return { listen: { path: socket }, name: `unix:${socket}` };
  return { listen: { host, port }, name: `${host}:${port}` };
}

export const allowGroup = (path: string): void => chmodSync(path, socketMode);

/** @throws UsageError when another server listens on it, or it is not a socket */
export async function removeStaleSocket(path: string): Promise<void> {
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (found === undefined) return;
  if (!found.isSocket()) throw new UsageError(`${path}: is not a socket; choose another --socket`);
  const isInUse = await new Promise<boolean>((resolve) => {
    const connection = connect(path, () => {
      connection.destroy();
      resolve(true);
    });
    connection.on("error", ({ code }: NodeJS.ErrnoException) => resolve(code !== "ECONNREFUSED"));
  });
  if (isInUse) throw new UsageError(`${path}: another server listens there; choose another --socket`);
  rmSync(path);
}
