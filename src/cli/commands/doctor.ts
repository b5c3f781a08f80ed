/** `idv doctor`: prints every setting with its source, and the faults that would end a run. Leaves no file behind. */
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { daysOld } from "../../core/classifier/tables/disposable-table.js";
import { AuthorisationError, ServiceError } from "../../core/validator/errors.js";
import { findTable } from "../../engines/data/installed-table.js";
import { rightsOfOthers } from "../../files/found.js";
import { VerdictCache } from "../../state/cache/verdict-cache.js";
import { StoreError } from "../../state/errors.js";
import { openQuotaFile } from "../../state/quota/quota-file.js";
import { loadSqlite } from "../../state/sqlite/database.js";
import { sharedKindOf } from "../../state/sqlite/shared-folder.js";
import { counted, grouped } from "../../text.js";
import { findApiKey, loginPath, readLogin } from "../config/api-key.js";
import { cacheSecretPath, readCacheSecret } from "../config/cache-secret.js";
import { readOwnLists } from "../config/own-lists.js";
import { cachePath, dataTablePath } from "../config/paths.js";
import { isDatabase, quotaTarget } from "../config/quota-location.js";
import { resolveSettings } from "../config/resolve-settings.js";
import { type Settings, settingNames, showSetting } from "../config/settings.js";
import { askService } from "../engines/ask-service.js";
import { chooseEngine, resolveBaseUrl } from "../engines/engine-choice.js";
import { proxiesFor } from "../engines/proxies.js";
import { failureFor, UsageError } from "../errors.js";
import { exitCodes } from "../exit-codes.js";
import { jsonOption, type OptionValues, optionRecords } from "../options/option.js";
import { baseUrlOptions, dnsOptions, setOptions } from "../options/service.js";
import { type Listing, printListing } from "../terminal/listing.js";
import { print } from "../terminal/standard-output.js";
import { say } from "../terminal/terminal.js";
import { version } from "../version.js";
import { type DefineCommand, describe } from "./command.js";

const options = optionRecords({
  online: { flags: "--online", help: "ask the service whether it answers; nothing is charged" },
  ...jsonOption,
  ...baseUrlOptions,
  ...dnsOptions,
  ...setOptions,
});

type DoctorOptions = OptionValues<typeof options>;

export const define: DefineCommand = (command) => {
  describe(command, {
    description:
      "Prints every setting and its source. Checks files; with --online the service, with --dns the DNS servers.",
    examples: ["doctor", "doctor --online", "doctor --dns"],
    options,
    environment: ["IDV_API_KEY", "IDV_API_KEY_COMMAND", "IDV_QUOTA", "IDV_CACHE_FILE", "XDG_CONFIG_HOME"],
    exitCodes: [3, 5],
  });
  command.action(async (options: DoctorOptions) => {
    process.exitCode = await runDoctor(options);
  });
};

type Line = (...fields: readonly string[]) => void;

type OwnFile = readonly [what: string, path: string, check: ((path: string) => Promise<unknown>) | undefined];

function sayPlace([what, path, check]: OwnFile, line: Line): boolean {
  const kind = check && sharedKindOf(dirname(path));
  const shared = kind === undefined ? "" : `; on ${kind}, which machines can share: not used`;
  line(what, path, `${existsSync(path) ? "there" : "not there yet"}${shared}`);
  return kind === undefined || existsSync(path);
}

async function runDoctor(options: DoctorOptions): Promise<number> {
  const { env } = process;
  const lines: (readonly string[])[] = [];
  const line: Line = (...fields) => void lines.push(fields);
  let exitCode: number = exitCodes.done;
  /** Prints a fault that would end a run instead of throwing it. The first one decides the exit code. */
  async function attempt<Result>(work: () => Promise<Result>): Promise<Result | undefined> {
    try {
      return await work();
    } catch (error) {
      const { exitCode: code, message = "", stack } = failureFor(error);
      if (stack !== undefined) throw error;
      if (exitCode === exitCodes.done) exitCode = code;
      line("FAULT", message);
      return undefined;
    }
  }

  line("idv", version(), `Node.js ${process.versions.node}, ${process.platform} ${process.arch}`);
  const settings = await attempt(() => resolveSettings(options, env, process.cwd(), say));
  if (settings) await attempt(() => printSettings(settings, env, line));
  // Once only: a key command may prompt the user, and a pipe can be read once.
  const key = settings && (await attempt(() => findApiKey(settings.apiKeyFile.value, env, settings.baseUrl.value)));
  line("key", key ? masked(key.value) : "none", key?.source ?? "");
  const choice = settings && (await attempt(() => chooseEngine(settings, {}, env, async () => key)));
  if (choice) line("engine in use", choice.name, choice.reason);

  await attempt(async () => {
    if (choice?.name !== "api") return;
    const { httpProxy, httpsProxy, noProxy } = proxiesFor(choice.baseUrl.value, env);
    // The URLs of proxies may hold passwords.
    const named = Object.entries({ HTTP_PROXY: httpProxy, HTTPS_PROXY: httpsProxy, NO_PROXY: noProxy });
    const used = named.filter(([, value]) => value !== "").map(([name]) => name);
    line("proxy", used.length === 0 ? "none" : used.join(", "), "environment");
  });
  await attempt(async () => {
    const { path, table } = findTable(dataTablePath(env), say);
    const days = daysOld(table.sources, Date.now());
    const age = days === undefined ? "" : `, newest list ${counted(days, "day")} old`;
    line("data", `${grouped(table.size)} entries${age}`, path ?? "came with idv");
  });
  await attempt(async () => {
    const { allow, deny } = await readOwnLists({}, env, say);
    const counts = `${grouped(allow.entries)} allowed, ${grouped(deny.entries)} denied`;
    if (allow.entries + deny.entries > 0) line("own lists", counts, "idv allow, idv deny, IDV_ALLOW, IDV_DENY");
  });

  const quota = quotaTarget({}, env);
  const files: readonly OwnFile[] = [
    ["key file", settings?.apiKeyFile.value ?? "", undefined],
    ["login", loginPath(env), () => readLogin(env)],
    ["cache secret", cacheSecretPath(env), () => readCacheSecret(env)],
    ["cache", cachePath(env), async (path) => (await VerdictCache.open(path, Date.now)).close()],
    ["quota file", isDatabase(quota) ? "" : quota, async (path) => (await openQuotaFile(path, Date.now)).close()],
  ];
  for (const file of files) {
    const [what, path, check] = file;
    if (path === "" || !sayPlace(file, line)) continue;
    await attempt(() => checkFile(path, check));
    if (what === "quota file" || (what === "cache" && choice?.name === "api")) {
      await attempt(() => checkCreatable(path));
    }
  }
  if (settings && options.dns !== undefined && options.dns !== "off") {
    await attempt(() => askDnsServers(settings.dnsServer.value, line));
  }
  if (options.online && settings && choice) {
    await attempt(async () => {
      if (choice.name === "offline") return line("service", "not asked: the engine is offline");
      const { text, left } = await askService(choice, settings).catch((error: Error) => {
        const { source } = choice.key;
        const advice = source === "idv login" ? "idv login stores another key" : `replace the key in ${source}`;
        if (error instanceof AuthorisationError) error.message += `; ${advice}`;
        throw error;
      });
      line("service", text, left === undefined ? "" : `${grouped(left)} left`);
    });
  }
  if (options.json) {
    const facts = lines.map(([what, value = "", source = ""]) => ({ what, value, source }));
    print(`${JSON.stringify({ facts, exitCode })}\n`);
    return exitCode;
  }
  await printListing({ header: ["what", "value", "source"], rows: lines, colourOf });
  if (exitCode === exitCodes.done) {
    const isUnasked = choice?.name === "api" && !options.online;
    print(isUnasked ? "no fault found; --online also asks the service\n" : "no fault found\n");
  }
  return exitCode;
}

async function printSettings(settings: Settings, env: NodeJS.ProcessEnv, line: Line): Promise<void> {
  const service = await resolveBaseUrl(settings.baseUrl, env);
  for (const name of settingNames) {
    const { value, source } = name === "baseUrl" && service ? service : settings[name];
    line(name, showSetting(name, value), source);
  }
}

const colourOf: NonNullable<Listing["colourOf"]> = (chalk, column, text) =>
  column === 0 && text === "FAULT" ? chalk.red : undefined;

/** Shows enough of a key to tell keys apart, not enough to use one. */
const masked = (key: string): string => (key.length < 16 ? "****" : `${key.slice(0, 3)}****${key.slice(-4)}`);

/** Creates a file in a temporary folder on the same disk. @throws UsageError */
async function checkCreatable(path: string): Promise<void> {
  if (existsSync(path)) return;
  let folder = dirname(path);
  while (!existsSync(folder) && dirname(folder) !== folder) folder = dirname(folder);
  let trial: string | undefined;
  try {
    trial = mkdtempSync(join(folder, ".idv-"));
    const { DatabaseSync } = await loadSqlite();
    const file = new DatabaseSync(join(trial, "quota.db"));
    try {
      // Without prepared statements, which keep the file open after this, under Windows with Node.js 20.
      file.exec("PRAGMA journal_mode = WAL; CREATE TABLE quota (used)");
    } finally {
      file.close();
    }
  } catch (error) {
    const isWithout = error instanceof StoreError && error.obstacle === "no SQLite";
    const advice = isWithout ? "" : "; set IDV_QUOTA and IDV_CACHE_FILE to files that can be written";
    throw new UsageError(`${path}: cannot be created: ${(error as Error).message}${advice}`);
  } finally {
    if (trial !== undefined) rmSync(trial, { recursive: true, force: true });
  }
}

/** `check` opens the file; then the folder's rights count, too. @throws UsageError when others have access */
async function checkFile(path: string, check: ((path: string) => Promise<unknown>) | undefined): Promise<void> {
  if (!existsSync(path)) return;
  if (rightsOfOthers(path) !== 0) {
    throw new UsageError(`${path}: others may read it; run chmod 600`);
  }
  const folder = dirname(path);
  if (check && (rightsOfOthers(folder) & 0o022) !== 0) {
    throw new UsageError(`${folder}: others may change its files; run chmod 700`);
  }
  await check?.(path);
}

/** The system's servers if none is named. @throws ServiceError when one does not answer, or answers wrongly */
async function askDnsServers(named: readonly string[] | undefined, line: Line): Promise<void> {
  const [{ DnsClient }, { askControls }, { Resolver }] = await Promise.all([
    import("../../engines/dns/dns-client.js"),
    import("../../engines/dns/controls.js"),
    import("node:dns"),
  ]);
  let broken: string | undefined;
  for (const server of named ?? new Resolver().getServers()) {
    const started = performance.now();
    const result = await askControls(new DnsClient({ servers: [server], concurrency: 2 }));
    const milliseconds = Math.round(performance.now() - started);
    const text = result.kind === "right" ? "answers" : result.kind === "wrong" ? result.text : result.cause;
    line("dns server", server, text, `${milliseconds} ms`);
    if (result.kind !== "right") broken ??= `DNS server ${server}: ${text}`;
  }
  if (broken !== undefined) throw new ServiceError(`${broken}; name another server with --set dnsServer=IP`);
}
