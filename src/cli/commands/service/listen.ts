/** Makes the service listen on an address or a socket. */
import { existsSync } from "node:fs";
import { dirname } from "node:path";
import type { FastifyInstance, FastifyListenOptions } from "fastify";
import { allowGroup, type ListenAddress, removeStaleSocket } from "../../config/listen-address.js";
import { UsageError } from "../../errors.js";

export async function listen(service: FastifyInstance, { listen: options, name }: ListenAddress): Promise<string> {
  if ("path" in options) await removeStaleSocket(options.path);
  if ("path" in options && !existsSync(dirname(options.path)))
    throw new UsageError(`cannot listen on ${name}: its folder does not exist; create it`);
  const address = await service.listen(options as FastifyListenOptions).catch((error: NodeJS.ErrnoException) => {
    throw new UsageError(`cannot listen on ${name}: ${listenReasons[error.code ?? ""] ?? error.message}`);
  });
  if ("path" in options) allowGroup(options.path);
  return "port" in options ? address : name;
}

const listenReasons: Readonly<Record<string, string>> = {
  EADDRINUSE: "something else does already; choose another --port",
  EACCES: "permission denied; choose a --port above 1023, or a folder that can be written",
  EADDRNOTAVAIL: "this machine does not have that address; choose another --host",
  ENOTFOUND: "no such host",
};
