/** The lists of disposable domains: where they come from, how they are corrected and merged. Does no I/O. */
import {
  compileDisposableTable,
  type DataSource,
  type DisposableEntry,
} from "../classifier/disposable-table.js";
import {
  ispProviders,
  mailcomDomains,
  majorProviders,
  privacyProviders,
  relays,
} from "../classifier/providers.js";
import { findSuffix, isPrivateZone } from "../classifier/rules/public-suffix.js";
import { parseDomainName } from "../classifier/syntax/domain-name.js";
import { Fault } from "../classifier/syntax/fault.js";
import { settledZones, zones } from "./zones.js";

/** npm packages that the table is compiled from. `file` is the path of the list in the package: a JSON array of names. */
export const listPackages = [
  { name: "disposable-domains", file: "index.json" },
  // Read the file instead of using the package's API, which rebuilds its set at every call.
  { name: "disposable-email-domains-js", file: "dist/dict/disposable_email_blocklist.json" },
] as const;

/** A version of a list package, with its list. */
export interface ListVersion extends Omit<DataSource, "domains"> {
  readonly list: readonly string[];
}

/** Compiles lists into the bytes of a table. */
export function compileLists(versions: readonly ListVersion[]): Uint8Array {
  const sources = versions.map(({ list, ...source }) => ({ ...source, domains: list.length }));
  return compileDisposableTable(mergeDisposableLists(versions.map(({ list }) => list)), sources);
}

/** Ordinary sites, companies and universities that some list wrongly calls disposable. */
const wronglyListed = `
  craigslist.org angi.com com.com facebookmail.com gocardless.dev salla.dev hola.org 99.com yourdomain.com
  21cn.com citizensonline.com first-state.net google.tm atomicmail.io nus.edu.sg users.noreply.github.com
`;

/** Domains that are never disposable, even if a list has them. */
const allowed: ReadonlySet<string> = new Set([
  ...majorProviders,
  ...mailcomDomains,
  ...ispProviders,
  ...privacyProviders,
  ...Object.values(relays).flat(),
  ...wronglyListed.trim().split(/\s+/),
]);

/**
 * Merges lists of disposable domains into the entries of a table. Names are converted to A-labels. Left out are invalid
 * names, public suffixes (`edu.pl` would hit 51 universities) and domains that are never disposable. Zones, ours and those
 * of the private section of the public suffix list, count only for the domains below them.
 */
export function mergeDisposableLists(lists: readonly (readonly string[])[]): DisposableEntry[] {
  const entries = new Map<string, DisposableEntry>();
  for (const listed of lists.flat()) {
    const name = parseDomainName(listed.trim());
    if (name instanceof Fault || allowed.has(name.ascii)) continue;
    if (findSuffix(name.ascii) !== "registrable") continue;
    if (settledZones.includes(name.ascii)) continue;
    entries.set(name.ascii, { domain: name.ascii, onlyBelow: isPrivateZone(name.ascii) });
  }
  for (const domain of zones) entries.set(domain, { domain, onlyBelow: true });
  return [...entries.values()];
}
