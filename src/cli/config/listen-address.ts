/** Where `idv serve` listens: an address, a Unix socket, or a socket that systemd has opened. */
import { chmodSync, existsSync, lstatSync, rmSync } from "node:fs";
import { connect } from "node:net";
import { dirname } from "node:path";
import type { FastifyInstance, FastifyListenOptions } from "fastify";
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

/** @throws UsageError when another server listens on it, or it is not a socket */
async function removeStaleSocket(path: string): Promise<void> {
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

export async function listen(service: FastifyInstance, { listen: options, name }: ListenAddress): Promise<string> {
  if ("path" in options) await removeStaleSocket(options.path);
  if ("path" in options && !existsSync(dirname(options.path)))
    throw new UsageError(`cannot listen on ${name}: its folder does not exist; create it`);
  const address = await service.listen(options as FastifyListenOptions).catch((error: NodeJS.ErrnoException) => {
    throw new UsageError(listenFault(error, name, "path" in options));
  });
  if ("path" in options) chmodSync(options.path, socketMode);
  return "port" in options ? address : name;
}

export function listenFault({ code = "", message }: NodeJS.ErrnoException, name: string, isSocket = false): string {
  const isRefused = code === "EACCES";
  const advice = isSocket ? "choose a folder that can be written" : "choose a --port above 1023";
  return `cannot listen on ${name}: ${isRefused ? `permission denied; ${advice}` : (listenReasons[code] ?? message)}`;
}

const listenReasons: Readonly<Record<string, string>> = {
  EADDRINUSE: "the port is in use; choose another --port",
  EADDRNOTAVAIL: "this machine does not have that address; choose another --host",
  ENOTFOUND: "no such host",
};
