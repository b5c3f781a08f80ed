/** Asks a running `idv serve` whether it is ready: for the health checks of containers, which have no other program for it. */
import { get } from "node:http";
import { ServiceError } from "../../core/validator/errors.js";
import type { ListenAddress } from "../config/listen-address.js";

const patience = 5000;

/** @throws ServiceError when no service at the address is ready */
export async function askReady({ listen, name }: ListenAddress): Promise<void> {
  const target = "path" in listen ? { socketPath: listen.path } : listen;
  const problem = await new Promise<string | undefined>((resolve) => {
    const request = get({ ...target, path: "/readyz" }, ({ statusCode }) => {
      resolve(statusCode === 200 ? undefined : `it answers ${statusCode}`);
      request.destroy();
    });
    // For a server that answers slowly, too, which the time limit of a socket would not end.
    const timer = setTimeout(() => {
      resolve(`no answer within ${patience / 1000} s`);
      request.destroy();
    }, patience);
    request.on("close", () => clearTimeout(timer));
    const reasons: Readonly<Record<string, string>> = { ECONNREFUSED: "connection refused", ENOENT: "no such socket" };
    request.on("error", ({ message, code = "" }: NodeJS.ErrnoException) => resolve(reasons[code] ?? message));
  });
  if (problem !== undefined) throw new ServiceError(`${name}: the service is not ready: ${problem}`);
}
