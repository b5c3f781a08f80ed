/** Chooses between the offline engine and the service. */

import { AuthorisationError } from "../../core/validator/errors.js";
import { isLoopback } from "../../engines/api/loopback.js";
import { findApiKey, isKeyConfigured, readLogin } from "../config/api-key.js";
import { unknownVariables } from "../config/resolve-settings.js";
import type { Resolved, Settings } from "../config/settings.js";
import { UsageError } from "../errors.js";

export type EngineChoice =
  | { readonly name: "offline"; readonly reason: string }
  | {
      readonly name: "api";
      readonly reason: string;
      readonly baseUrl: Resolved<string>;
      readonly key: Resolved<string>;
    };

export type ServiceOptions = { readonly offline?: true };

/**
 * The one that is set, else the service if it is named or there is a key, else the offline engine.
 * @throws AuthorisationError without a valid key
 * @throws UsageError for an unencrypted or unknown URL, or an untrusted project's file that decides on it
 */
export async function chooseEngine(
  settings: Settings,
  options: ServiceOptions,
  env: NodeJS.ProcessEnv,
  findKey = () => findApiKey(settings.apiKeyFile.value, env, settings.baseUrl.value),
): Promise<EngineChoice> {
  const { engine, baseUrl, apiKeyFile } = settings;
  if (options.offline) return { name: "offline", reason: "--offline" };
  if (engine.value === "offline") return { name: "offline", reason: engine.source };
  const isKeyWanted = engine.value === "api" || (await isKeyConfigured(apiKeyFile.value, env));
  const untrusted = [baseUrl, engine].find(({ isUntrusted }) => isUntrusted);
  // Check first: finding the key may prompt the user.
  if (isKeyWanted && untrusted) throw new UsageError(distrust(untrusted, baseUrl));
  const key = await findKey();
  if (key === undefined) {
    const login = await readLogin(env);
    const reason = login ? `the key of idv login is for ${login.baseUrl}` : "no key is configured";
    const isNamed = engine.value === "api" || baseUrl.value !== undefined;
    const mistyped = isNamed ? undefined : unknownVariables(env).find(({ meant = "" }) => deciding.has(meant));
    if (mistyped !== undefined && env[mistyped.name] !== "")
      throw new UsageError(`${mistyped.name}: idv has no such variable; did you mean ${mistyped.meant}?`);
    if (!isNamed) return { name: "offline", reason };
    // The other engine would give other verdicts, without a word where nobody looks.
    const service = baseUrl.value === undefined ? "" : `${baseUrl.value} (${baseUrl.source}): `;
    const empty = emptyVariable(env);
    const why = empty === undefined ? reason : `${empty} is empty`;
    throw new AuthorisationError(`${service}${why}: run idv login, set IDV_API_KEY, or use --offline`);
  }
  const service = await resolveBaseUrl(baseUrl, env);
  if (service === undefined) {
    const advice = "so name its service with --base-url or IDV_BASE_URL, or use --offline";
    throw new UsageError(`no base URL: a key is configured (${key.source}), ${advice}`);
  }
  checkSafe(service, settings);
  const why = engine.value === "api" ? engine.source : `a key is configured: ${key.source}`;
  // `idv login` keeps both.
  const reason = service.source === key.source ? why : `URL of ${service.source}; ${why}`;
  return { name: "api", reason, baseUrl: service, key };
}

/** Variables without which the offline engine runs. */
const deciding: ReadonlySet<string> = new Set(["IDV_API_KEY", "IDV_API_KEY_COMMAND", "IDV_BASE_URL", "IDV_ENGINE"]);

/** A variable may be empty as a secret that is missing in CI. */
const emptyVariable = (env: NodeJS.ProcessEnv): string | undefined =>
  ["IDV_API_KEY", "IDV_API_KEY_COMMAND"].find((name) => env[name]?.trim() === "");

function distrust({ source }: Resolved<unknown>, { value: url, isUntrusted }: Settings["baseUrl"]): string {
  if (!isUntrusted || url === undefined) {
    return `${source}: the engine of a project's file that names no service of yours is not trusted; set IDV_ENGINE, pass --set engine=NAME, or use --offline`;
  }
  return `${source}: baseUrl ${url} is not trusted, since your key would be sent there; if it is right, run idv login --base-url ${url}, or pass --base-url ${url}; --offline ignores it`;
}

export async function resolveBaseUrl({ value, source }: Resolved<string | undefined>, env: NodeJS.ProcessEnv) {
  if (value !== undefined) return { value, source };
  const login = await readLogin(env);
  return login && { value: login.baseUrl, source: "idv login" };
}

/** @throws UsageError when the key would be sent unencrypted to another machine, unless the user allows that */
export function checkSafe({ value: url, source }: Resolved<string>, { allowInsecureHttp }: Settings): void {
  const { protocol, hostname } = new URL(url);
  if (protocol === "https:" || isLoopback(hostname) || allowInsecureHttp.value) return;
  const advice = "use https, or --set allowInsecureHttp=true";
  throw new UsageError(`${url} (${source}): the key would be sent unencrypted; ${advice}`);
}
