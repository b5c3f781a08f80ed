/** The lists of disposable domains: where they come from, how they are corrected and merged. Does no I/O. */
import { disposableExchanges } from "../classifier/disposable-exchanges.js";
import {
  compileDisposableTable,
  type DataSource,
  type DisposableEntry,
  type DisposableTable,
} from "../classifier/disposable-table.js";
import {
  ispProviders,
  mailcomDomains,
  majorProviders,
  offeredDomains,
  privacyProviders,
  relays,
} from "../classifier/providers.js";
import { findSuffix, isPrivateZone } from "../classifier/rules/public-suffix.js";
import { parseDomainName } from "../classifier/syntax/domain-name.js";
import { Fault } from "../classifier/syntax/fault.js";
import { settledZones, zones } from "./zones.js";

/**
 * Meaning of a name in a list. `list`: it is disposable. `doubted`: it is, unless a `doubt` or `witness` list has it
 * too. `aged`: it is, unless the `old` list has it and no `witness` does. The `doubt`, `witness` and `old` lists add no
 * names: they correct the other lists, because nearly every false alarm of the large collections comes from their
 * lineages. If a correcting list is missing, the names that it corrects keep their state in the last table.
 */
export type ListRole = "list" | "doubted" | "aged" | "doubt" | "witness" | "old";

export const addsNames = (role: ListRole): boolean => ["list", "doubted", "aged"].includes(role);

export const listPackages = [
  { name: "disposable-domains", role: "aged", file: "index.json" },
  // Read the file instead of using the package's API, which rebuilds its set at every call.
  { name: "disposable-email-domains-js", role: "list", file: "dist/dict/disposable_email_blocklist.json" },
  { name: "fakefilter", role: "list", file: "json/data.json" },
  { name: "@emailalias/disposable-email-detector", role: "doubted", file: "data/disposable-domains.json" },
  { name: "mailchecker", role: "witness", file: "platform/node/index.js" },
  { name: "burner-email-providers", role: "doubt", file: "emails.txt" },
  { name: "disposable-email-domains", role: "old", file: "index.json" },
] as const satisfies readonly { name: string; role: ListRole; file: string }[];

export interface RoledList {
  readonly role: ListRole;
  readonly list: readonly string[];
}

export interface ListVersion extends Omit<DataSource, "domains" | "role" | "missing">, RoledList {}

/**
 * Returns the names in a package's file: a JSON array, an object whose `domains` are an array or keys, a `Set` in
 * JavaScript, or lines. Returns undefined if there are none.
 */
export function namesIn(text: string): readonly string[] | undefined {
  const [, set] = /new Set\((\[[^\]]*\])\)/.exec(text) ?? [];
  const isLines = /^[^\s{["<]+\.[^\s]+\r?$/m.test(text.slice(0, 200));
  const found: unknown = parseJson(set ?? text) ?? (isLines ? text.trim().split(/\s*\n\s*/) : undefined);
  const domains = Array.isArray(found) ? found : (found as { domains?: unknown } | undefined)?.domains;
  const names: unknown = Array.isArray(domains) ? domains : Object.keys(domains ?? {});
  const isList = Array.isArray(names) && names.length > 0 && names.every((name) => typeof name === "string");
  return isList ? names : undefined;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** @param before the table to replace; needed if a correcting list is missing */
export function compileLists(versions: readonly ListVersion[], before?: DisposableTable) {
  const merged = mergeDisposableLists(versions, before);
  const names = new Set(merged.map(({ domain }) => domain));
  // The exchanges of disposable services are disposable domains, too; lists lack four in ten of them.
  const exchanges = [...disposableExchanges].filter((domain) => !names.has(domain));
  const entries = [...merged, ...exchanges.map((domain) => ({ domain, onlyBelow: false }))];
  const sources = versions.map(({ list, ...source }): DataSource => ({ ...source, domains: list.length }));
  // Keep missing lists as sources, so that the next update finds them newer once they are back.
  for (const source of before?.sources ?? []) {
    const role = listPackages.find(({ name }) => name === source.name)?.role;
    const isFilter = role !== undefined && !addsNames(role);
    if (isFilter && !versions.some(({ name }) => name === source.name))
      sources.push({ ...source, missing: true });
  }
  return { entries, table: compileDisposableTable(entries, sources) };
}

/** Companies, and providers at which people have had mailboxes for years. */
const wronglyListed = `
  craigslist.org angi.com com.com facebookmail.com gocardless.dev salla.dev hola.org 99.com yourdomain.com
  21cn.com citizensonline.com first-state.net google.tm atomicmail.io nus.edu.sg users.noreply.github.com
  sify.com safe-mail.net hongkong.com mail333.com gawab.com hotpop.com nameplanet.com
`;

const allowed: ReadonlySet<string> = new Set([
  ...majorProviders,
  ...mailcomDomains,
  ...offeredDomains,
  ...ispProviders,
  ...privacyProviders,
  ...Object.values(relays).flat(),
  ...wronglyListed.trim().split(/\s+/),
]);

/**
 * Merges lists of disposable domains into the entries of a table, as A-labels. Leaves out invalid names, public
 * suffixes (`edu.pl` would hit 51 universities) and domains that are never disposable. Zones, our own and those of the
 * private section of the public suffix list, count only for the domains below them.
 */
export function mergeDisposableLists(
  lists: readonly RoledList[],
  before?: DisposableTable,
): DisposableEntry[] {
  const entries = new Map<string, DisposableEntry>();
  for (const listed of disposableNames(lists, before)) {
    const name = parseDomainName(listed);
    if (name instanceof Fault) continue;
    const { ascii } = name;
    if (allowed.has(ascii) || settledZones.includes(ascii) || findSuffix(ascii) !== "registrable") continue;
    entries.set(ascii, { domain: ascii, onlyBelow: isPrivateZone(ascii) });
  }
  for (const domain of zones) entries.set(domain, { domain, onlyBelow: true });
  return [...entries.values()];
}

function disposableNames(lists: readonly RoledList[], before?: DisposableTable): ReadonlySet<string> {
  const namesOf = (wanted: ListRole) =>
    new Set(
      lists.flatMap(({ role, list }) =>
        role === wanted ? list.map((name) => name.trim().toLowerCase()) : [],
      ),
    );
  const [listed, doubts, witnesses] = [namesOf("list"), namesOf("doubt"), namesOf("witness")];
  const old = namesOf("old");
  const isPresent = (wanted: ListRole) => lists.some(({ role }) => role === wanted);
  const isDisposable = (name: string, correctedBy: readonly ListRole[], isCorrected: boolean) =>
    before === undefined || correctedBy.every(isPresent) ? !isCorrected : isListed(before, name);
  for (const name of namesOf("doubted")) {
    const isDoubted = doubts.has(name) || witnesses.has(name);
    if (isDisposable(name, ["doubt", "witness"], isDoubted)) listed.add(name);
  }
  for (const name of namesOf("aged")) {
    const isOld = old.has(name) && !witnesses.has(name);
    if (isDisposable(name, ["old", "witness"], isOld)) listed.add(name);
  }
  return listed;
}

/** Returns whether a table has a name, even if only for the domains below it. */
function isListed(table: DisposableTable, listed: string): boolean {
  const name = parseDomainName(listed);
  return !(name instanceof Fault) && table.find(`x.${name.ascii}`) !== undefined;
}
