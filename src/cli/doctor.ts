import { existsSync, statSync } from "node:fs";
import { QuotaFile } from "../store/quota-file.js";
import { VerdictCache } from "../store/verdict-cache.js";
import { loginPath } from "./api-key.js";
import { cacheSecretPath, readCacheSecret } from "./cache-secret.js";
import { openApiEngine } from "./engine.js";
import { chooseEngine, type EngineChoice, type ServiceOptions } from "./engine-choice.js";
import { explainFailure, UsageError } from "./errors.js";
import { exitCodes } from "./exit-codes.js";
import { cachePath, quotaFilePath } from "./paths.js";
import { resolveSettings, type SettingOptions, type Settings, settingKinds } from "./settings.js";
import { print } from "./standard-output.js";
import { printable, say } from "./terminal.js";

/** The options of `idv doctor`, as commander gives them. */
export interface DoctorOptions extends SettingOptions, ServiceOptions {
  readonly online?: true;
}

/**
 * Runs `idv doctor`: prints every setting with its source, and what is wrong with what to do about it.
 *
 * @returns the exit code that a run would end with for the first fault
 */
export async function runDoctor(options: DoctorOptions): Promise<number> {
  const { env } = process;
  let exitCode: number = exitCodes.done;
  /** Does some work and goes on behind what would end a run. */
  async function attempt<Result>(work: () => Promise<Result>): Promise<Result | undefined> {
    try {
      return await work();
    } catch (error) {
      const { exitCode: code, message = "", stack } = explainFailure(error);
      if (stack !== undefined) throw error;
      if (exitCode === exitCodes.done) exitCode = code;
      line("FAULT", message);
      return undefined;
    }
  }

  const settings = await attempt(() => resolveSettings(options, env, process.cwd(), say));
  if (settings) printSettings(settings, options);
  const choice = settings && (await attempt(() => chooseEngine(settings, options, env)));
  if (choice?.engine === "api") {
    line("baseUrl", choice.baseUrl.value, choice.baseUrl.source);
    line("key", masked(choice.key.value), choice.key.source);
  } else line("key", "none");
  if (choice) line("engine in use", choice.engine, choice.reason);

  const files: readonly (readonly [string, string, ((path: string) => Promise<unknown>) | undefined])[] = [
    ["key file", options.apiKeyFile ?? "", undefined],
    ["login", loginPath(env), undefined],
    ["cache secret", cacheSecretPath(env), () => readCacheSecret(env)],
    ["cache", cachePath(env), async (path) => (await VerdictCache.open(path, Date.now)).close()],
    [
      "quota file",
      quotaFilePath(undefined, env),
      async (path) => (await QuotaFile.open(path, Date.now)).close(),
    ],
  ];
  for (const [what, path, check] of files) {
    if (path === "") continue;
    line(what, path, existsSync(path) ? "there" : "not there yet");
    await attempt(() => checkFile(path, check));
  }
  if (options.online && settings && choice) await attempt(() => askService(choice, settings, options));
  if (exitCode === exitCodes.done) print("all is well\n");
  return exitCode;
}

function printSettings(settings: Settings, options: DoctorOptions): void {
  for (const name of Object.keys(settingKinds) as (keyof Settings)[]) {
    const { value, source } = settings[name];
    if (name === "baseUrl") continue;
    if (name === "engine" && options.offline) continue;
    const text =
      value === undefined ? "none" : typeof value === "object" ? describeRate(value) : String(value);
    const isTime = name === "timeout" || name === "retryBudget" || name === "cacheTtl";
    line(name, isTime ? `${text} ms` : text, source);
  }
}

const describeRate = ({ items, milliseconds }: { items: number; milliseconds: number }) =>
  `${items} in ${milliseconds / 1000} s`;

const line = (...fields: readonly string[]): void => print(`${fields.map(printable).join("\t")}\n`);

/** What tells one key from another and lets nobody use it. */
const masked = (key: string): string => (key.length < 16 ? "****" : `${key.slice(0, 3)}****${key.slice(-4)}`);

/** @throws StoreError, Error when a file with secrets or state may be read by others, or cannot be used */
async function checkFile(
  path: string,
  check: ((path: string) => Promise<unknown>) | undefined,
): Promise<void> {
  if (!existsSync(path)) return;
  if (process.platform !== "win32" && (statSync(path).mode & 0o077) !== 0) {
    throw new UsageError(`${path}: others may read it; chmod 600 it`);
  }
  await check?.(path);
}

/** Asks about no items, which costs nothing. */
async function askService(choice: EngineChoice, settings: Settings, options: DoctorOptions): Promise<void> {
  if (choice.engine === "offline") return line("service", "not asked: the engine is offline");
  const bare = { ...options, cache: false, precheck: false };
  const engine = await openApiEngine("email", settings, choice, bare, say);
  try {
    const left = await engine.probe!();
    line("service", left === 0 ? "answers; the quota is exhausted" : "answers", `${left ?? "unknown"} left`);
  } finally {
    await engine.close();
  }
}
