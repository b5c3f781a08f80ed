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

/** The npm packages that the table is compiled from, and where in them the list is: a JSON array of names. */
export const listPackages = [
  { name: "disposable-domains", file: "index.json" },
  // The file itself: the package's API rebuilds its set at every call.
  { name: "disposable-email-domains-js", file: "dist/dict/disposable_email_blocklist.json" },
] as const;

/** A version of one of the packages. */
export interface ListVersion extends Omit<DataSource, "domains"> {
  readonly list: readonly string[];
}

/** Compiles the table of these lists. */
export function compileLists(versions: readonly ListVersion[]): Uint8Array {
  const sources = versions.map(({ list, ...source }) => ({ ...source, domains: list.length }));
  return compileDisposableTable(mergeDisposableLists(versions.map(({ list }) => list)), sources);
}

/** Listed as disposable somewhere although they are ordinary sites, companies and universities. */
const wronglyListed = `
  craigslist.org angi.com com.com facebookmail.com gocardless.dev salla.dev hola.org 99.com yourdomain.com
  21cn.com citizensonline.com first-state.net google.tm atomicmail.io nus.edu.sg users.noreply.github.com
`;

/** Everything that is never disposable, whatever a list says. */
const allowed: ReadonlySet<string> = new Set([
  ...majorProviders,
  ...mailcomDomains,
  ...ispProviders,
  ...privacyProviders,
  ...Object.values(relays).flat(),
  ...wronglyListed.trim().split(/\s+/),
]);

/**
 * Merges lists of disposable domains into the entries of the table: names in their ASCII form, without public
 * suffixes (`edu.pl` would hit 51 universities), private-section zones for the names below them only, and
 * without the providers that the lists get wrong.
 */
export function mergeDisposableLists(lists: readonly (readonly string[])[]): DisposableEntry[] {
  const entries = new Map<string, DisposableEntry>();
  for (const listed of lists.flat()) {
    const name = parseDomainName(listed.trim());
    if (name instanceof Fault || allowed.has(name.ascii)) continue;
    if (findSuffix(name.ascii) !== "registrable") continue;
    entries.set(name.ascii, { domain: name.ascii, onlyBelow: isPrivateZone(name.ascii) });
  }
  return [...entries.values()];
}
