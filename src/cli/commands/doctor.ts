/** `idv doctor`: prints every setting with its source, and the faults that would end a run. Leaves no file behind. */
import { existsSync, mkdtempSync, rmdirSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { QuotaFile } from "../../store/quota-file.js";
import { VerdictCache } from "../../store/verdict-cache.js";
import { AuthorisationError, ServiceError } from "../../validator/errors.js";
import { findApiKey, loginPath, readLogin } from "../config/api-key.js";
import { cacheSecretPath, readCacheSecret } from "../config/cache-secret.js";
import { cachePath, quotaFilePath } from "../config/paths.js";
import {
  resolveSettings,
  type SettingOptions,
  type Settings,
  settingNames,
  showSetting,
} from "../config/settings.js";
import { openApiEngine } from "../engines/api-engine.js";
import {
  chooseEngine,
  type EngineChoice,
  resolveBaseUrl,
  type ServiceOptions,
} from "../engines/engine-choice.js";
import { failureFor, UsageError } from "../errors.js";
import { exitCodes } from "../exit-codes.js";
import { print } from "../terminal/standard-output.js";
import { printable, say } from "../terminal/terminal.js";
import {
  apiKeyFileOption,
  type DefineCommand,
  describe,
  insecureHttpOption,
  settingOption,
} from "./command.js";

/** The options of `idv doctor`, as commander gives them. */
interface DoctorOptions extends SettingOptions, ServiceOptions {
  readonly online?: true;
}

export const define: DefineCommand = (command) => {
  describe(command, {
    description:
      "Prints every setting and its source. Checks files; with --online the service, with --dns the DNS servers.",
    examples: ["doctor", "doctor --online", "doctor --dns"],
    environment: [
      "IDV_API_KEY",
      "IDV_API_KEY_COMMAND",
      "IDV_QUOTA_FILE",
      "IDV_CACHE_FILE",
      "XDG_CONFIG_HOME",
    ],
    exitCodes: [3, 5],
  });
  for (const name of settingNames) command.addOption(settingOption(name));
  command
    .addOption(apiKeyFileOption())
    .addOption(insecureHttpOption())
    .option("--online", "ask the service whether it answers; nothing is charged")
    .action(async (options: DoctorOptions) => {
      process.exitCode = await runDoctor(options);
    });
};

/**
 * Prints every setting with its source, and each fault with what to do about it.
 *
 * @returns the exit code that a run would end with for the first fault
 */
async function runDoctor(options: DoctorOptions): Promise<number> {
  const { env } = process;
  let exitCode: number = exitCodes.done;
  /** Does some work. A fault that would end a run is printed instead of thrown; the first one decides the exit code. */
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

  const settings = await attempt(() => resolveSettings(options, env, process.cwd(), say));
  if (settings) await attempt(() => printSettings(settings, env));
  // Once only: a command may ask its user, and a pipe can be read once.
  const key = settings && (await attempt(() => findApiKey(options.apiKeyFile, env, settings.baseUrl.value)));
  line("key", key ? masked(key.value) : "none", key?.source ?? "");
  const choice = settings && (await attempt(() => chooseEngine(settings, options, env, async () => key)));
  if (choice) line("engine in use", choice.name, choice.reason);

  const files: readonly (readonly [string, string, ((path: string) => Promise<unknown>) | undefined])[] = [
    ["key file", options.apiKeyFile ?? "", undefined],
    ["login", loginPath(env), () => readLogin(env)],
    ["cache secret", cacheSecretPath(env), () => readCacheSecret(env)],
    ["cache", cachePath(env), async (path) => await (await VerdictCache.open(path, Date.now)).close()],
    [
      "quota file",
      quotaFilePath(undefined, env),
      async (path) => await (await QuotaFile.open(path, Date.now)).close(),
    ],
  ];
  for (const [what, path, check] of files) {
    if (path === "") continue;
    line(what, path, existsSync(path) ? "there" : "not there yet");
    await attempt(() => checkFile(path, check));
    if (what === "quota file") await attempt(async () => checkCreatable(path));
  }
  if (settings && options.dns !== undefined && options.dns !== "off") {
    await attempt(() => askDnsServers(settings.dnsServer.value));
  }
  if (options.online && settings && choice) await attempt(() => askService(choice, settings, options));
  if (exitCode === exitCodes.done) print("all is well\n");
  return exitCode;
}

async function printSettings(settings: Settings, env: NodeJS.ProcessEnv): Promise<void> {
  const place = await resolveBaseUrl(settings.baseUrl, env);
  for (const name of settingNames) {
    const { value, source } = name === "baseUrl" && place ? place : settings[name];
    line(name, showSetting(name, value), source);
  }
}

const line = (...fields: readonly string[]): void => print(`${fields.map(printable).join("\t")}\n`);

/** Returns a key as it may be shown: enough to tell keys apart, not enough to use one. */
const masked = (key: string): string => (key.length < 16 ? "****" : `${key.slice(0, 3)}****${key.slice(-4)}`);

/**
 * Checks that the quota file is there or can be created: without it, offline runs are not counted.
 *
 * @throws UsageError when its folder cannot be created
 */
function checkCreatable(path: string): void {
  if (existsSync(path)) return;
  let folder = dirname(path);
  while (!existsSync(folder) && dirname(folder) !== folder) folder = dirname(folder);
  try {
    rmdirSync(mkdtempSync(join(folder, ".idv-")));
  } catch (error) {
    throw new UsageError(
      `${path}: cannot be created: ${(error as Error).message}; offline runs are not counted; set IDV_QUOTA_FILE to a file that can be written`,
    );
  }
}

/**
 * Checks a file with secrets or state, if it exists.
 *
 * @param check opens the file; where given, the rights of the folder are checked too
 * @throws UsageError when others may read the file, or change the folder
 */
async function checkFile(
  path: string,
  check: ((path: string) => Promise<unknown>) | undefined,
): Promise<void> {
  if (!existsSync(path)) return;
  if (process.platform !== "win32" && (statSync(path).mode & 0o077) !== 0) {
    throw new UsageError(`${path}: others may read it; run chmod 600`);
  }
  const folder = dirname(path);
  if (check && (statSync(folder).mode & 0o022) !== 0) {
    throw new UsageError(`${folder}: others may change its files; run chmod 700`);
  }
  await check?.(path);
}

/** A domain that certainly has mail exchanges. */
const knownDomain = "iana.org";

/**
 * Asks every DNS server about a well-known name.
 *
 * @param named the servers that the user has named; the system's if absent
 * @throws ServiceError when one returns no MX records for the name
 */
async function askDnsServers(named: readonly string[] | undefined): Promise<void> {
  const [{ DnsClient }, { findMail }, { Resolver }] = await Promise.all([
    import("../../dns/dns-client.js"),
    import("../../dns/mail-domains.js"),
    import("node:dns"),
  ]);
  let broken: string | undefined;
  for (const server of named ?? new Resolver().getServers()) {
    const client = new DnsClient({ servers: [server], concurrency: 1 });
    const started = performance.now();
    const finding = await findMail(knownDomain, client, () => undefined);
    const milliseconds = Math.round(performance.now() - started);
    const said =
      finding.kind === "undecided" ? finding.cause : finding.kind === "mail" ? "answers" : finding.kind;
    line("dns server", server, `MX ${knownDomain}: ${said}`, `${milliseconds} ms`);
    if (finding.kind !== "mail") broken ??= `${server}: ${said} for MX ${knownDomain}`;
  }
  if (broken !== undefined) throw new ServiceError(`${broken}; name another server with --dns-server`);
}

/** Sends a request without items, which costs nothing: even a refusal can show that the service accepts the key. */
async function askService(choice: EngineChoice, settings: Settings, options: DoctorOptions): Promise<void> {
  if (choice.name === "offline") return line("service", "not asked: the engine is offline");
  const bare = { ...options, cache: false, precheck: false };
  const engine = await openApiEngine("email", settings, choice, bare, say);
  try {
    const { status, said, left } = await engine.probe!("email");
    const answer = `${choice.baseUrl.value}: answers ${status}${said}`;
    if (status === 401) throw new AuthorisationError(`${answer}; idv login stores another key`);
    // 400, 422: refuses a request without items. 403: the key may be for domains only. 429: no quota left.
    const isHealthy = (status >= 200 && status < 300) || [400, 403, 422, 429].includes(status);
    if (!isHealthy) throw new ServiceError(`${answer}; is the base URL right?`);
    line("service", answer, left === undefined ? "" : `${left} left`);
  } finally {
    await engine.close();
  }
}
