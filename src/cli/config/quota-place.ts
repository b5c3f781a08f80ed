/** Where the quota of the offline engine is: in a file of its own, or shared by name in the state of `idv serve`. */
import type { QuotaOwner } from "../../store/service-store.js";
import { UsageError } from "../errors.js";
import { quotaFilePath } from "./paths.js";

/** Options that name the quota. */
export interface QuotaOptions {
  readonly quotaFile?: string;
  readonly quota?: string;
  readonly quotaName?: string;
}

/** A quota that other machines and the keys of a service may share. */
export interface SharedQuota {
  /** File or `postgres://` URL of the state. */
  readonly state: string;
  /** Whether the state was named by an option, which other users can see in the list of processes. */
  readonly isOption: boolean;
  readonly from: QuotaOwner;
}

/** A quota file, and whether the user named it, and so may have set a limit; or a shared quota. */
export type QuotaPlace = { readonly path: string; readonly isNamed: boolean } | SharedQuota;

/** Whether the state is a database rather than a file. */
export const isDatabase = (state: string): boolean => /^postgres(?:ql)?:\/\//.test(state);

/** Returns the state with the shared quota; undefined if the quota is in a file of its own. */
const sharedState = ({ quotaFile, quota }: QuotaOptions, env: NodeJS.ProcessEnv): string | undefined =>
  quotaFile === undefined ? (quota ?? (env["IDV_QUOTA"] || undefined)) : undefined;

/** Returns the file or URL of the quota, whether or not a shared one is named. */
export const quotaTarget = (options: QuotaOptions, env: NodeJS.ProcessEnv): string =>
  sharedState(options, env) ?? quotaFilePath(options.quotaFile, env);

/**
 * Finds the quota: `--quota-file`, else `--quota`, else IDV_QUOTA, else IDV_QUOTA_FILE, else the usual file.
 *
 * @throws UsageError when a shared quota has no name, or a name no quota
 */
export function quotaPlace(options: QuotaOptions, env: NodeJS.ProcessEnv): QuotaPlace {
  const { quotaFile, quota, quotaName } = options;
  const state = sharedState(options, env);
  if (state === undefined) {
    if (quotaName !== undefined) throw new UsageError("--quota-name is for a shared quota; add --quota URL");
    const isNamed = quotaFile !== undefined || Boolean(env["IDV_QUOTA_FILE"]);
    return { path: quotaFilePath(quotaFile, env), isNamed };
  }
  const keyId = quotaName === undefined ? env["IDV_QUOTA_KEY"] || undefined : undefined;
  const name = quotaName ?? (env["IDV_QUOTA_NAME"] || undefined);
  if (keyId !== undefined) return { state, isOption: quota !== undefined, from: { keyId } };
  if (name === undefined) {
    const source = quota === undefined ? "IDV_QUOTA" : "--quota";
    throw new UsageError(`${source} needs the name of the quota too: --quota-name NAME, or IDV_QUOTA_NAME`);
  }
  return { state, isOption: quota !== undefined, from: { quotaName: name } };
}
