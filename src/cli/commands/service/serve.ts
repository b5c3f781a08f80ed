/** `idv serve`: the validation service over HTTP. */
import { once } from "node:events";
import type { FastifyBaseLogger } from "fastify";
import type { Classifier } from "../../../core/classifier/classifier.js";
import { daysOld } from "../../../core/classifier/tables/disposable-table.js";
import { loadClassifier } from "../../../core/classifier/tables/load-classifier.js";
import { isLoopback } from "../../../engines/api/loopback.js";
import { findTable, tableSource } from "../../../engines/data/installed-table.js";
import { writeFault } from "../../../files/errors.js";
import { isAbsent, rightsOfOthers } from "../../../files/found.js";
import { stateOfTag } from "../../../files/processes.js";
import { readBuilt } from "../../../package/own-files.js";
import type { Lists } from "../../../server/lists/lists.js";
import { openLog } from "../../../server/service/log.js";
import { createMetrics, figuresOf, type Metrics } from "../../../server/service/metrics.js";
import type { Pages } from "../../../server/service/routes/dashboard.js";
import { createService } from "../../../server/service/service.js";
import { deathIn } from "../../../state/quota/run-reservation.js";
import type { ServiceStore } from "../../../state/service/service-store.js";
import type { NamedUnits } from "../../../state/service/usage.js";
import { counted, shellWord } from "../../../text.js";
import { day } from "../../../time.js";
import { listen, listenAddress } from "../../config/listen-address.js";
import { readKeptLists } from "../../config/own-lists.js";
import { dataTablePath, stateLocation } from "../../config/paths.js";
import { isDatabase } from "../../config/quota-location.js";
import { resolveSettings } from "../../config/resolve-settings.js";
import { openServiceState, openState, stateOptions } from "../../config/service-state.js";
import { type Settings, variableOf } from "../../config/settings.js";
import { UsageError } from "../../errors.js";
import { fieldName, trustedAddress, trustOf, webOrigin } from "../../options/addresses.js";
import { type OptionValues, optionRecords } from "../../options/option.js";
import { dnsOptions, setOptions } from "../../options/service.js";
import { byteCount, filled, hostName, portOption, timeOr, wholeNumber } from "../../options/values.js";
import { say } from "../../terminal/terminal.js";
import { version } from "../../version.js";
import { type DefineCommand, describe } from "../command.js";

const options = optionRecords({
  host: { flags: "--host <HOST>", help: "address to listen on", parse: hostName, fallback: "127.0.0.1" },
  port: portOption("port to listen on; 0 for any free one", 8787),
  socket: {
    flags: "--socket <PATH>",
    help: "Unix socket to listen on instead",
    parse: filled,
    conflicts: ["host", "port"],
  },
  config: { flags: "--config <FILE>", help: 'options from a JSON file: {"port": 8080, ...}', parse: filled },
  ...stateOptions,
  corsOrigin: {
    flags: "--cors-origin <URL>",
    help: "origin whose pages may call the service",
    parse: webOrigin,
    isList: true,
  },
  maxItems: {
    flags: "--max-items <N>",
    help: "most items in a request",
    parse: wholeNumber(1, 100_000),
    fallback: 1000,
  },
  baseUrl: { flags: "--base-url <URL>", help: "where browsers reach the dashboard", parse: webOrigin },
  try: { flags: "--try", help: "serve the page that checks lists in the browser, at /try/" },
  dashboard: { flags: "--no-dashboard", help: "serve no pages below /dashboard" },
  trustHeader: {
    flags: "--trust-header <NAME>",
    help: "field in which a proxy that signs people in sends their name",
    parse: fieldName,
  },
  trustFrom: {
    flags: "--trust-from <ADDRESS>",
    help: "address of that proxy, or its network, or unix",
    parse: trustedAddress,
    isList: true,
  },
  lists: {
    flags: "--lists <DIR>",
    help: "folder for lists, shared by all servers (default: beside a state file)",
    parse: filled,
  },
  keepLists: {
    flags: "--keep-lists <TIME>",
    help: "delete lists TIME after their check",
    // What a list has paid, so that another try at it does not pay again, is known for seven days.
    ...timeOr("1h", 60_000, 6 * day),
  },
  keepUsage: {
    flags: "--keep-usage <TIME>",
    help: "keep daily usage for TIME",
    ...timeOr("400d", 40 * day, 36_600 * day),
  },
  maxListBytes: {
    flags: "--max-list-bytes <SIZE>",
    help: "largest list accepted",
    parse: byteCount,
    fallback: 268_435_456,
    fallbackText: "256M",
  },
  check: { flags: "--check", help: "check that the service can start, and exit" },
  ready: { flags: "--ready", help: "ask whether a running service at this address is ready", conflicts: ["check"] },
  quiet: { flags: "-q, --quiet", help: "log no requests" },
  // Not the help of the setting: the service has no exit code for a request.
  dns: { ...dnsOptions.dns, help: "look up whether domains receive mail (default: off)" },
  ...setOptions,
});

type ServeOptions = OptionValues<typeof options>;

export const define: DefineCommand = (command) => {
  describe(command, {
    description: "Runs the validation service: the offline engine over HTTP, with keys and quotas.",
    examples: ["serve", "serve --port 8080 --state /var/lib/idv/service.db", "serve --config /etc/idv/serve.json"],
    options,
    environment: ["IDV_STATE", "IDV_STATE_FILE", "XDG_STATE_HOME", "XDG_DATA_HOME", "LISTEN_FDS, LISTEN_PID"],
    exitCodes: [5],
    topics: ["service"],
  });
  command.action(async (given: ServeOptions) => {
    if (given.config !== undefined) {
      const { takeOptionsFrom } = await import("../../config/config-file.js");
      takeOptionsFrom(given.config, { command, records: options, variables });
      // An address on the command line overrides a socket in the file.
      const isGiven = ["host", "port"].some((name) => command.getOptionValueSource(name) === "cli");
      if (isGiven) command.setOptionValue("socket", undefined);
    }
    if (command.opts<ServeOptions>().ready) {
      const { askReady } = await import("../../engines/ask-ready.js");
      return askReady(listenAddress(command.opts<ServeOptions>(), {}, process.pid));
    }
    const isStateInFile = command.getOptionValueSource("state") === "config";
    await serve(command.opts<ServeOptions>(), isStateInFile);
  });
};

const variables: Readonly<Record<string, readonly string[]>> = {
  state: ["IDV_STATE", "IDV_STATE_FILE"],
  dns: [variableOf("dns")],
};

const patienceMilliseconds = 7000;

/** Longest wait for a lock on the state, in milliseconds; then the answer is 503. */
const lockMilliseconds = 1000;

/** Lets requests in flight finish after a signal. A state named in the file of options may hold a password. */
async function serve(options: ServeOptions, isStateInFile: boolean): Promise<void> {
  const { state, corsOrigin = [], maxItems, baseUrl, quiet } = options;
  if (options.trustFrom !== undefined && options.trustHeader === undefined) {
    throw new UsageError("--trust-from needs --trust-header NAME: the field in which the proxy names the person");
  }
  if (options.trustHeader !== undefined && options.trustFrom === undefined) {
    throw new UsageError("--trust-header needs --trust-from ADDRESS: the address of the proxy that sends it");
  }
  const target = listenAddress(options, process.env, process.pid);
  const resolved = await resolveSettings(options, process.env, undefined, say);
  const { databaseConnections: connections, databaseTimeout: statement } = resolved;
  const postgres = { connections: connections.value, statementMilliseconds: statement.value };
  const location = stateLocation(state, process.env);
  const isNew = !isDatabase(location) && isAbsent(location);
  const settings = { creates: true, lockWait: { milliseconds: lockMilliseconds }, ...postgres };
  const store = await (isStateInFile
    ? openState(state!, undefined, process.env, settings)
    : openServiceState(state, process.env, settings));
  const metrics = createMetrics(version());
  metrics.watch(store);
  const log = quiet || options.check ? undefined : openLog(1, () => metrics.lostLines.inc());
  const ownLists = await readKeptLists(process.env);
  const classifier = loadClassifier({ ...tableSource(dataTablePath(process.env), say), ownLists });
  const lists = await openLists(options, store);
  const pages = dashboardLoader(options, store, classifier, metrics, lists);
  const mail = resolved.dns.value === "off" ? undefined : await openMail(resolved, classifier);
  try {
    const page = () => ({ page: readBuilt("page/index.html"), serviceWorker: readBuilt("page/service-worker.js") });
    const parts = { store, classifier, metrics, lists, maximumItems: maxItems, corsOrigins: corsOrigin };
    const service = createService({
      ...parts,
      ...(mail && { mailCheck: mail.start }),
      ...(log && { log }),
      ...(options.try && { page: page() }),
      ...(options.dashboard && { loadDashboard: pages.load }),
    });
    // Before the service listens: after that, unusable state causes a 503 and never ends the process.
    await store.examine();
    notePermissions(state);
    const hasKeys = (await store.list()).length > 0;
    // Before the address is announced, so that a signal sent right after it is not missed.
    const stopped = Promise.race([once(process, "SIGTERM"), once(process, "SIGINT")]);
    const address = await listen(service, target);
    process.removeAllListeners("uncaughtException").on("uncaughtException", reportBug);
    if (options.check) {
      await service.close();
      const made = isNew ? `; the state ${location} is new` : "";
      return say(`the service can run: state, data and address are fine${made}`);
    }
    say(`listening on ${address}`);
    if ("port" in target.listen && !isLoopback(target.listen.host))
      say("other machines may reach this address, and keys are sent unencrypted: put TLS in front");
    if (baseUrl?.startsWith("http:") && !isLoopback(new URL(baseUrl).hostname))
      say("--base-url has http: links and sessions of the dashboard are sent unencrypted");
    const tidying = [keepUsageTidy(store, options.keepUsage), keepQuotasClear(store)];
    // The location may hold a password.
    const ofState = state === undefined || isDatabase(state) ? "" : ` --state ${shellWord(state)}`;
    if (!hasKeys) say(`there are no keys yet: idv keys create --name NAME${ofState}`);
    await stopped;
    for (const timer of tidying) clearInterval(timer);
    await Promise.all([pages.close(), lists?.close()]);
    const timer = setTimeout(() => service.server.closeAllConnections(), patienceMilliseconds);
    await service.close();
    clearTimeout(timer);
  } finally {
    await lists?.close();
    await mail?.close();
    await store.close();
    await log?.close();
  }
}

function notePermissions(state: string | undefined): void {
  const location = stateLocation(state, process.env);
  if (!isDatabase(location) && rightsOfOthers(location) !== 0)
    say(`${location}: other users can open the state: chmod 600 ${shellWord(location)}`);
}

function reportBug({ stack }: Error): void {
  const text = "a bug in idv; please report it with the lines that follow; the service goes on";
  process.stderr.write(`idv: ${text}\n${stack}\n`);
}

function dashboardLoader(
  { baseUrl, trustHeader, trustFrom }: ServeOptions,
  store: ServiceStore,
  classifier: Classifier,
  metrics: Metrics,
  lists: Lists | undefined,
) {
  let loaded: Promise<Pages> | undefined;
  const load = async (log: FastifyBaseLogger): Promise<Pages> => {
    const { openDashboard } = await import("../../../server/dashboard/dashboard.js");
    const parts = { store, classifier, baseUrl, log, lists };
    return openDashboard({
      ...parts,
      proxy: trustHeader === undefined ? undefined : { header: trustHeader, isTrusted: trustOf(trustFrom ?? []) },
      figures: () => figuresOf(metrics),
      terms: () => {
        const { table } = findTable(dataTablePath(process.env), () => {});
        const days = daysOld(table.sources, Date.now());
        const age = days === undefined ? "came with idv" : `newest list ${counted(days, "day")} old`;
        return [
          ["Data", age],
          ["Version", `idv ${version()}`],
        ];
      },
    });
  };
  return {
    load: (log: FastifyBaseLogger) => {
      loaded ??= load(log);
      return loaded;
    },
    close: async () => (await loaded)?.close(),
  };
}

async function openLists({ state, lists: given, maxListBytes, keepLists, check }: ServeOptions, store: ServiceStore) {
  const location = stateLocation(state, process.env);
  const folder = given ?? (isDatabase(location) ? undefined : `${location}.lists`);
  if (folder === undefined) return undefined;
  const [{ Lists }, { listRunner }] = await Promise.all([
    import("../../../server/lists/lists.js"),
    import("../../engines/list-runner.js"),
  ]);
  const limits = { mostBytes: maxListBytes, keepMilliseconds: keepLists };
  const nameUnits = (units: NamedUnits) => store.nameUnits(units);
  const runner = listRunner(location);
  const lists = new Lists({ folder, store: store.lists, nameUnits, runner, ...limits, onFault: sayOnce() });
  try {
    await lists.files.check();
  } catch (error) {
    await lists.close();
    throw new UsageError(`--lists: ${folder}: cannot be written: ${writeFault(error)}; choose another folder`);
  }
  if (check) await lists.close();
  return lists;
}

const tidyEvery = 600_000;

function keepUsageTidy(store: ServiceStore, keep: number): NodeJS.Timeout {
  const tidy = () => store.tidyUsage(keep).catch(() => {});
  tidy();
  return setInterval(tidy, tidyEvery).unref();
}

/** Time between two looks for dead runs that hold units of the quotas, in milliseconds. */
const clearEvery = 5000;

/** Gives back what dead runs held: a charge of the service does not wait for them. */
function keepQuotasClear(store: ServiceStore): NodeJS.Timeout {
  const isDead = deathIn(stateOfTag, store.isServer);
  return setInterval(() => store.clearDead(isDead).catch(() => {}), clearEvery).unref();
}

function sayOnce(): (error: Error) => void {
  let last = { message: "", until: 0 };
  return ({ message }) => {
    if (message === last.message && performance.now() < last.until) return;
    last = { message, until: performance.now() + 60_000 };
    say(`lists: ${message}`);
  };
}

async function openMail(settings: Settings, classifier: Classifier) {
  const { openServiceMailCheck } = await import("../../engines/mail-check.js");
  return openServiceMailCheck(settings, classifier);
}
