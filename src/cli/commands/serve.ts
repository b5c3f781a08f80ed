/** `idv serve`: the validation service over HTTP. */
import { once } from "node:events";
import { Option } from "commander";
import { type Classifier, loadClassifier } from "../../classifier/classifier.js";
import { tableSource } from "../../data/installed-table.js";
import { openLog } from "../../service/log.js";
import { createMetrics } from "../../service/metrics.js";
import { createService } from "../../service/server.js";
import { isLoopback } from "../config/loopback.js";
import { filled, webOrigin, wholeNumber } from "../config/option-values.js";
import { dataTablePath } from "../config/paths.js";
import { dnsSettingNames, resolveSettings, type SettingOptions, type Settings } from "../config/settings.js";
import { openServiceState } from "../engines/service-state.js";
import { UsageError } from "../errors.js";
import { say } from "../terminal/terminal.js";
import { type DefineCommand, describe, settingOption } from "./command.js";
import { stateOption } from "./state-option.js";

/** The options of `idv serve`, as commander gives them. */
interface ServeOptions extends SettingOptions {
  readonly host: string;
  readonly port: number;
  readonly state?: string;
  readonly corsOrigin?: readonly string[];
  readonly maxItems: number;
  readonly check?: true;
  readonly quiet?: true;
}

export const define: DefineCommand = (command) => {
  describe(command, {
    description: "Runs the validation service: the offline engine over HTTP, with keys and quotas.",
    examples: [
      "serve",
      "serve --port 8080 --state /var/lib/idv/service.db",
      "serve --state postgres://idv@db.example.com/idv",
    ],
    environment: ["IDV_STATE", "IDV_STATE_FILE", "XDG_STATE_HOME", "XDG_DATA_HOME"],
  })
    .addOption(new Option("--host <HOST>", "address to listen on").argParser(filled).default("127.0.0.1"))
    .addOption(
      new Option("--port <PORT>", "port to listen on; 0 for any free one")
        .argParser(wholeNumber(0, 65_535))
        .default(8787),
    )
    .addOption(stateOption())
    .addOption(
      new Option("--cors-origin <URL>", "origin whose pages may call the service").argParser(webOrigin),
    )
    .addOption(
      new Option("--max-items <N>", "most items in a request")
        .argParser(wholeNumber(1, 100_000))
        .default(1000),
    )
    .option("--check", "find out whether the service could run, and exit")
    .option("-q, --quiet", "log no requests");
  for (const name of dnsSettingNames) command.addOption(settingOption(name));
  command.action(serve);
};

/** How long requests in flight may take to finish after a signal, in milliseconds. */
const patienceMilliseconds = 8000;

/** How long a request waits while another process locks the state, in milliseconds; then it is answered with 503. */
const lockMilliseconds = 1000;

/** Runs the service until SIGTERM or SIGINT, and lets the requests in flight finish. */
async function serve(options: ServeOptions): Promise<void> {
  const { host, port, state, corsOrigin = [], maxItems, quiet } = options;
  const settings = await resolveSettings(options, process.env, undefined, say);
  const store = await openServiceState(state, process.env, {
    milliseconds: lockMilliseconds,
  });
  const metrics = createMetrics();
  const log = quiet || options.check ? undefined : openLog(1, () => metrics.lostLines.inc());
  const classifier = loadClassifier(tableSource(dataTablePath(process.env), say));
  const mail = settings.dns.value === "off" ? undefined : await openMail(settings, classifier);
  try {
    const service = createService({
      store,
      classifier,
      ...(mail && { mailCheck: mail.start }),
      maximumItems: maxItems,
      corsOrigins: corsOrigin,
      metrics,
      ...(log && { log }),
      now: Date.now,
    });
    // Before the service listens: from then on, state that cannot be used is a 503 and never the end of the process.
    const hasKeys = (await store.list()).length > 0;
    // Before the address is announced, so that a signal sent right after that is not missed.
    const stopped = Promise.race([once(process, "SIGTERM"), once(process, "SIGINT")]);
    const address = await service.listen({ host, port }).catch((error: NodeJS.ErrnoException) => {
      throw new UsageError(
        `cannot listen on ${host}:${port}: ${listenReasons[error.code ?? ""] ?? error.message}`,
      );
    });
    if (options.check) {
      await store.checkWritable();
      await service.close();
      return say("the service can run: state, data and address are fine");
    }
    say(`listening on ${address}`);
    if (!isLoopback(host))
      say("other machines may reach this address, and keys are sent unencrypted: put TLS in front");
    if (!hasKeys) say("there are no keys yet: idv keys create --name NAME");
    await stopped;
    const timer = setTimeout(() => service.server.closeAllConnections(), patienceMilliseconds);
    await service.close();
    clearTimeout(timer);
  } finally {
    await mail?.close();
    await store.close();
    await log?.close();
  }
}

/** Opens the stage that asks DNS. Loaded only where it is wanted. */
async function openMail(settings: Settings, classifier: Classifier) {
  const { openServiceMailCheck } = await import("../engines/mail-check.js");
  return openServiceMailCheck(settings, classifier);
}

const listenReasons: Readonly<Record<string, string>> = {
  EADDRINUSE: "something else does already; choose another --port",
  EACCES: "permission denied; choose a --port above 1023",
  EADDRNOTAVAIL: "this machine does not have that address; choose another --host",
  ENOTFOUND: "no such host",
};
