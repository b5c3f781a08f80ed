import { once } from "node:events";
import { loadClassifier } from "../../classifier/classifier.js";
import { tableSource } from "../../data/installed-table.js";
import { openLog } from "../../service/log.js";
import { createMetrics } from "../../service/metrics.js";
import { createService } from "../../service/server.js";
import { KeyStore } from "../../store/key-store.js";
import { isLoopback } from "../config/loopback.js";
import { stateFilePath } from "../config/paths.js";
import { UsageError } from "../errors.js";
import { say } from "../terminal/terminal.js";

/** The options of `idv serve`, as commander gives them. */
export interface ServeOptions {
  readonly host: string;
  readonly port: number;
  readonly state?: string;
  readonly corsOrigin?: readonly string[];
  readonly maxItems: number;
  readonly quiet?: true;
}

/** Requests that are in flight have so long to finish. */
const patienceMilliseconds = 8000;

/** How long a request waits for another process that holds the state's lock; then it is answered with 503. */
const lockMilliseconds = 1000;

/** Runs `idv serve` until SIGTERM or SIGINT; what is in flight then is finished. */
export async function serve({
  host,
  port,
  state,
  corsOrigin = [],
  maxItems,
  quiet,
}: ServeOptions): Promise<void> {
  const store = await KeyStore.open(stateFilePath(state, process.env), Date.now, {
    milliseconds: lockMilliseconds,
  });
  const metrics = createMetrics();
  const log = quiet ? undefined : openLog(1, () => metrics.lostLines.inc());
  try {
    const service = createService({
      store,
      classifier: loadClassifier(tableSource(process.env)),
      maximumItems: maxItems,
      corsOrigins: corsOrigin,
      metrics,
      ...(log && { log }),
      now: Date.now,
    });
    // Listened for before anybody can know that the service is there.
    const stopped = Promise.race([once(process, "SIGTERM"), once(process, "SIGINT")]);
    const address = await service.listen({ host, port }).catch((error: NodeJS.ErrnoException) => {
      throw new UsageError(
        `cannot listen on ${host}:${port}: ${listenReasons[error.code ?? ""] ?? error.message}`,
      );
    });
    say(`listening on ${address}`);
    if (!isLoopback(host))
      say("anybody who reaches this address can read keys and answers: put TLS in front");
    if ((await store.list()).length === 0) say("there are no keys yet: idv keys create --name NAME");
    await stopped;
    const timer = setTimeout(() => service.server.closeAllConnections(), patienceMilliseconds);
    await service.close();
    clearTimeout(timer);
  } finally {
    await store.close();
    await log?.close();
  }
}

const listenReasons: Readonly<Record<string, string>> = {
  EADDRINUSE: "something else does already; choose another --port",
  EACCES: "no right to; choose a --port above 1023",
  EADDRNOTAVAIL: "this machine does not have that address; choose another --host",
  ENOTFOUND: "no such host",
};
