/** Where the quota of the offline engine is: in a file of its own, or shared by name in the state of `idv serve`. */
import { found } from "../../files/found.js";
import type { QuotaOwner } from "../../state/service/api-key.js";
import { UsageError } from "../errors.js";
import { numberMeant } from "../options/meant-forms.js";
import { quotaFilePath, stateLocation } from "./paths.js";

/** `FILE`, `FILE#NAME`, `URL#NAME`, or `#NAME` in the usual state. */
export interface QuotaOptions {
  readonly quota?: string;
}

export interface SharedQuota {
  readonly state: string;
  /** Then other users can see the state in the list of processes. */
  readonly isOption: boolean;
  readonly from: QuotaOwner;
}

/** `isNamed` is set if the user has named the file, which may then have a limit. */
export type QuotaLocation = { readonly path: string; readonly isNamed: boolean } | SharedQuota;

export const isDatabase = (state: string): boolean => /^postgres(?:ql)?:\/\//.test(state);

/** An existing file with a `#` in its name stays whole. */
function parts(text: string, env: NodeJS.ProcessEnv): { readonly location: string; readonly name?: string } {
  const [, location, name] = /^(.*)#([^#/]*)$/s.exec(text) ?? [];
  if (location === undefined || name === undefined || (!isDatabase(text) && found(text)?.isFile())) {
    return { location: text };
  }
  return { location: location || stateLocation(undefined, env), name };
}

export function quotaTarget({ quota }: QuotaOptions, env: NodeJS.ProcessEnv): string {
  const text = quota ?? (env["IDV_QUOTA"] || undefined);
  if (text === undefined) return env["IDV_QUOTA_KEY"] ? stateLocation(undefined, env) : quotaFilePath(env);
  return parts(text, env).location;
}

/** `--quota`, else IDV_QUOTA, else the usual file; IDV_QUOTA_KEY alone means the usual state. @throws UsageError */
export function quotaLocation({ quota }: QuotaOptions, env: NodeJS.ProcessEnv): QuotaLocation {
  const isOption = quota !== undefined;
  const keyId = isOption ? undefined : env["IDV_QUOTA_KEY"] || undefined;
  const text = quota ?? (env["IDV_QUOTA"] || undefined);
  if (text === undefined && keyId === undefined) return { path: quotaFilePath(env), isNamed: false };
  const { location, name } = text === undefined ? { location: stateLocation(undefined, env) } : parts(text, env);
  if (keyId !== undefined) return { state: location, isOption, from: { keyId } };
  if (name) return { state: location, isOption, from: { quotaName: name } };
  const source = isOption ? "--quota" : "IDV_QUOTA";
  const limit = /^(?:none|unlimited)$/i.test(location) ? "none" : numberMeant(location);
  if (limit !== undefined && found(location) === undefined)
    throw new UsageError(`${source}: no file "${location}"; for a limit, run idv quota set --limit ${limit}`);
  const [scheme] = isDatabase(location) ? [] : (/^[a-z][a-z\d+.-]+:\/\//i.exec(location) ?? []);
  if (scheme !== undefined)
    throw new UsageError(
      `${source}: ${scheme}... is not supported; write postgres://host/database#NAME, or name a file`,
    );
  if (name === undefined && !isDatabase(location)) return { path: location, isNamed: true };
  const place = isDatabase(location) ? "postgres://host/database" : location;
  throw new UsageError(`${source} needs the name of the quota, too: ${place}#NAME`);
}
