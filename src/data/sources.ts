/** The lists of disposable domains: where they come from, how they are corrected and merged. Does no I/O. */
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
 * Role of a list: the meaning of a name in it. `list`: it is disposable. `doubted`: it is, unless a `doubt` or `witness` list has it, too.
 * `aged`: it is, unless the `old` list has it, and neither a `witness` nor the lists before do. The `doubt`, `witness` and
 * `old` lists add nothing by themselves: nearly every false alarm of the large collections comes from their lineages.
 * If one of these is missing, the names of the lists that it corrects stay as they were in the last table.
 */
export type ListRole = "list" | "doubted" | "aged" | "doubt" | "witness" | "old";

/** Whether names get into the table by a list of this role. */
export const addsNames = (role: ListRole): boolean => ["list", "doubted", "aged"].includes(role);

/** npm packages that the table is compiled from. `file` is the path of the list in the package. */
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

/** A list with its role. */
export interface RoledList {
  readonly role: ListRole;
  readonly list: readonly string[];
}

/** A version of a list package, with its list. */
export interface ListVersion extends Omit<DataSource, "domains" | "role" | "missing">, RoledList {}

/**
 * Returns the names in the file of a package: a JSON array, an object whose `domains` are an array or its keys, a `Set` in
 * JavaScript, or lines. Undefined if there are none.
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

/**
 * Compiles lists. Returns the entries, and the bytes of a table of them.
 *
 * @param before the table that they replace; needed if a list that corrects others is missing
 */
export function compileLists(versions: readonly ListVersion[], before?: DisposableTable) {
  const entries = mergeDisposableLists(versions, before);
  const sources = versions.map(({ list, ...source }): DataSource => ({ ...source, domains: list.length }));
  // Kept, so that the next update finds the list newer once it is back.
  for (const source of before?.sources ?? []) {
    const role = listPackages.find(({ name }) => name === source.name)?.role;
    const isFilter = role !== undefined && !addsNames(role);
    if (isFilter && !versions.some(({ name }) => name === source.name))
      sources.push({ ...source, missing: true });
  }
  return { entries, table: compileDisposableTable(entries, sources) };
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
  ...offeredDomains,
  ...ispProviders,
  ...privacyProviders,
  ...Object.values(relays).flat(),
  ...wronglyListed.trim().split(/\s+/),
]);

/**
 * Merges lists of disposable domains into the entries of a table. Names are converted to A-labels. Left out are invalid
 * names, public suffixes (`edu.pl` would hit 51 universities) and domains that are never disposable. Zones, ours and those
 * of the private section of the public suffix list, count only for the domains below them.
 *
 * @param before see {@link compileLists}
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

/** Returns the names that the lists call disposable by their roles, trimmed and in lower case. */
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
  /** Decides on a name in a list that others correct: as in the last table if one of these is missing. */
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

/** Whether a table has a name, be it for the domains below it only. */
function isListed(table: DisposableTable, listed: string): boolean {
  const name = parseDomainName(listed);
  return !(name instanceof Fault) && table.find(`x.${name.ascii}`) !== undefined;
}
