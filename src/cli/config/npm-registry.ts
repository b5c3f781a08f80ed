/** The npm registry that the user's machine is set up for: often a copy inside a company. npm itself is not needed. */
import { readFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { UsageError } from "../errors.js";

const publicRegistry = "https://registry.npmjs.org/";

/** `npm_config_registry`, else the user's `.npmrc`, not a project's. The URL ends with a slash. @throws UsageError */
export function npmRegistry(env: NodeJS.ProcessEnv) {
  const named = (name: string) => env[`npm_config_${name}`] || env[`NPM_CONFIG_${name.toUpperCase()}`];
  const path = named("userconfig") || join(homedir(), ".npmrc");
  const settings = settingsIn(path, env);
  const text = named("registry") || settings.get("registry") || publicRegistry;
  // It may hold a password, so it is not shown.
  if (!/^https?:/i.test(text) || !URL.canParse(text)) throw new UsageError(`${path}: registry is not a URL`);
  const url = new URL(text.replace(/\/*$/, "/"));
  const { username, password } = url;
  url.username = url.password = "";
  const inUrl = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  const basic = username === "" ? fieldOf(url, "_auth", settings) : Buffer.from(inUrl).toString("base64");
  const token = fieldOf(url, "_authToken", settings);
  return { url: url.href, authorization: token ? `Bearer ${token}` : basic && `Basic ${basic}` };
}

/** Returns the value for the registry or the nearest folder above it: `//npm.example.net/team/:_authToken`. */
function fieldOf({ host, pathname }: URL, name: string, settings: ReadonlyMap<string, string>) {
  for (let path = `//${host}${pathname}`; path.length > 2; path = path.replace(/[^/]*\/$/, "")) {
    const found = settings.get(`${path}:${name}`) ?? settings.get(`${path.slice(0, -1)}:${name}`);
    if (found !== undefined) return found;
  }
  return undefined;
}

function settingsIn(path: string, env: NodeJS.ProcessEnv): ReadonlyMap<string, string> {
  let text = "";
  try {
    text = readFileSync(path, "utf8");
  } catch {
    // Most machines have none.
  }
  const lines = text.matchAll(/^[ \t]*([^=;#\s][^=\r\n]*?)[ \t]*=[ \t]*["']?(.*?)["']?[ \t]*\r?$/gm);
  const filled = (value: string) => value.replace(/\$\{([^}]+)\}/g, (all, variable: string) => env[variable] ?? all);
  return new Map(Array.from(lines, ([, name = "", value = ""]) => [name, filled(value)]));
}
