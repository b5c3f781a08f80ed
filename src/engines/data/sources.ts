/** The lists of disposable domains: where they come from, how they are corrected and merged. Does no I/O. */
import { offeredDomains, privacyProviders } from "../../core/classifier/flags/free-providers.js";
import { familyDomains, ispProviders } from "../../core/classifier/known-providers.js";
import { mailcomDomains, majorProviders, relays } from "../../core/classifier/providers.js";
import { findSuffix, isPrivateZone, registrableIn } from "../../core/classifier/rules/domain/public-suffix.js";
import { parseDomainName } from "../../core/classifier/syntax/domain-name.js";
import { Fault } from "../../core/classifier/syntax/fault.js";
import { disposableExchanges } from "../../core/classifier/tables/disposable-exchanges.js";
import type {
  DataSource,
  DisposableEntry,
  DisposableTable,
  HashedEntry,
  SuffixPart,
} from "../../core/classifier/tables/disposable-table.js";
import { compileDisposableTable, ownBit } from "../../core/classifier/tables/disposable-table.js";
import { findSuffixIn } from "../../core/classifier/tables/suffix-walk.js";
import { parsedJson } from "../../core/table/json/json-values.js";
import { settledZones, zones } from "./zones.js";

/**
 * `doubted` names are disposable unless a `doubt` or `witness` list has them; `aged` ones unless the `old` list has
 * them and no `witness` does. These three only correct: nearly all false alarms of the large lists come from their
 * lineages. If one is missing, its names keep their state in the last table.
 */
export type ListRole = "list" | "doubted" | "aged" | "doubt" | "witness" | "old";

export const addsNames = (role: ListRole): boolean => ["list", "doubted", "aged"].includes(role);

export const listPackages = [
  { name: "disposable-domains", role: "aged", file: "index.json", repository: "tompec/disposable-email-domains" },
  {
    name: "disposable-email-domains-js",
    role: "list",
    // The file, not the package's API, which rebuilds its set at every call.
    file: "dist/dict/disposable_email_blocklist.json",
    repository: "mziyut/disposable-email-domains-js",
  },
  { name: "fakefilter", role: "list", file: "json/data.json", repository: "7c/fakefilter" },
  {
    name: "@emailalias/disposable-email-detector",
    role: "doubted",
    file: "data/disposable-domains.json",
    repository: "emailalias/disposable-email-detector",
  },
  { name: "mailchecker", role: "witness", file: "platform/node/index.js", repository: "FGRibreau/mailchecker" },
  { name: "burner-email-providers", role: "doubt", file: "emails.txt", repository: "findie/burner-email-providers" },
  { name: "disposable-email-domains", role: "old", file: "index.json", repository: "ivolo/disposable-email-domains" },
] as const satisfies readonly { name: string; role: ListRole; file: string; repository: string }[];

/** Renewed every day and fetched over HTTPS. The first copy is disposable-domains.txt. */
export const publicList = fromGitHub("disposable/disposable-email-domains", "doubted");

export const publicListUrl = "https://raw.githubusercontent.com/disposable/disposable-email-domains/master/domains.txt";

/** Curated, some thousand names a day. Names come back for weeks, so each is kept for a year: see castle-days.tsv. */
export const dailyList = fromGitHub("castle/disposable-email-domains", "list");

function fromGitHub<Role extends ListRole>(name: string, role: Role) {
  return { name, role, licence: "MIT", repository: name };
}

const listNamed = (name: string) => [...listPackages, publicList, dailyList].find((list) => list.name === name);

const correctionsOf = (name: string): Pick<DataSource, "corrections"> => {
  const list = listNamed(name);
  return list === undefined ? {} : { corrections: `https://github.com/${list.repository}/issues` };
};

export interface RoledList {
  readonly role: ListRole;
  readonly list: readonly string[];
  readonly again?: ReadonlySet<string>;
}

export interface ListVersion extends Omit<DataSource, "domains" | "role" | "missing">, RoledList {}

export function namesIn(text: string): readonly string[] | undefined {
  const [, set] = /new Set\((\[[^\]]*\])\)/.exec(text) ?? [];
  const found: unknown = parsedJson(set ?? text) ?? linesIn(text);
  const domains = Array.isArray(found) ? found : (found as { domains?: unknown } | undefined)?.domains;
  const names: unknown = Array.isArray(domains) ? domains : Object.keys(domains ?? {});
  const isList = Array.isArray(names) && names.length > 0 && names.every((name) => typeof name === "string");
  return isList ? names : undefined;
}

/** Removes comments after `#`. Returns undefined if one in ten lines is no name. */
function linesIn(text: string): readonly string[] | undefined {
  const lines = text.split(/\r?\n/).flatMap((line) => line.replace(/(?:^|\s)#.*/, "").trim() || []);
  const names = lines.filter((line) => /^[\p{L}\p{M}\d_-]+(?:\.[\p{L}\p{M}\d_-]+)+\.?$/u.test(line));
  return names.length > 0.9 * lines.length ? lines : undefined;
}

export function dateIn(text: string): string | undefined {
  const { t } = (parsedJson(text) ?? {}) as { t?: unknown };
  return typeof t === "number" && t > 0 && t < 1e11 ? new Date(1000 * t).toISOString().slice(0, 10) : undefined;
}

export interface MergeOptions {
  readonly before?: DisposableTable | undefined;
  readonly isPopular?: (domain: string) => boolean;
  readonly suffixes?: SuffixPart | undefined;
}

/** Lists of the last table that are missing stay among its sources, and so do their names. */
export function compileLists(versions: readonly ListVersion[], options: MergeOptions = {}) {
  const { before } = options;
  const merged = mergeDisposableLists(versions, options);
  const names = new Set(merged.map(({ domain }) => domain));
  // The exchanges of disposable services are disposable domains, too; lists lack four in ten of them.
  const exchanges = [...disposableExchanges].filter((domain) => !names.has(domain));
  const entries = [...merged, ...exchanges.map((domain) => ({ domain, onlyBelow: false, lists: ownBit }))];
  const sources = versions.map(
    ({ list, again: _, ...source }): DataSource => ({ ...source, domains: list.length, ...correctionsOf(source.name) }),
  );
  const others: HashedEntry[] = [];
  for (const [index, source] of (before?.sources ?? []).entries()) {
    const role = listNamed(source.name)?.role;
    if (role === undefined || versions.some(({ name }) => name === source.name)) continue;
    const bit = 1 << sources.length;
    // So that the next update finds the list newer once it is back.
    sources.push({ ...source, missing: true });
    if (!addsNames(role)) continue;
    for (const entry of before!.entriesIn(1 << index)) others.push({ ...entry, lists: bit });
  }
  const { suffixes = before?.suffixes } = options;
  return { entries, table: compileDisposableTable(entries, sources, others, suffixes) };
}

/** Companies, and providers at which people have had mailboxes for years. */
const wronglyListed = `
  craigslist.org angi.com com.com facebookmail.com gocardless.dev salla.dev hola.org 99.com yourdomain.com
  21cn.com citizensonline.com first-state.net google.tm atomicmail.io nus.edu.sg users.noreply.github.com
  sify.com safe-mail.net hongkong.com mail333.com gawab.com hotpop.com nameplanet.com
  cock.email memeware.net national.shitposting.agency horsefucker.org rape.lol waifu.club cumallover.me nigge.rs
  420blaze.it tfwno.gf firemail.cc empas.com empal.com online.ms
`;

const allowed: ReadonlySet<string> = new Set([
  ...[majorProviders, familyDomains, mailcomDomains, offeredDomains, ispProviders, privacyProviders].flat(),
  ...Object.values(relays).flat(),
  ...wronglyListed.trim().split(/\s+/),
]);

/** Leaves out public suffixes: `edu.pl` would hit 51 universities. Zones count only for the domains below them. */
export function mergeDisposableLists(lists: readonly RoledList[], options: MergeOptions = {}): DisposableEntry[] {
  const entries = new Map<string, DisposableEntry>();
  const add = (domain: string, onlyBelow: boolean, found: number) =>
    entries.set(domain, { domain, onlyBelow, lists: found | (entries.get(domain)?.lists ?? 0) });
  for (const [listed, found] of disposableNames(lists, options)) {
    const name = parseDomainName(listed);
    if (name instanceof Fault) continue;
    const { ascii } = name;
    if (isAllowed(ascii) || settledZones.includes(ascii) || findSuffix(ascii) !== "registrable") continue;
    add(ascii, isPrivateZone(ascii), found);
  }
  for (const [index, list] of lists.entries()) {
    for (const domain of manyBelow(list)) {
      if (!entries.has(domain) && !isAllowed(domain) && !zones.includes(domain) && !isPrivateZone(domain))
        add(domain, false, 1 << index);
    }
  }
  const isSingle = (bits = 0) => (bits & (bits - 1)) === 0;
  for (const [ascii, { lists: found }] of entries) {
    // A host of a company, such as support.facebook.com, that one list has by mistake, on one day.
    const isConfirmed = !isSingle(found) || lists.some(({ again }) => again?.has(ascii));
    if (!isConfirmed && !isDisposableBelow(ascii, entries)) entries.delete(ascii);
  }
  for (const domain of zones) add(domain, true, ownBit);
  return [...entries.values()];
}

/** Names below one domain after which the domain itself counts: temporary mail services make new ones every day. */
const manyNames = 10;

function manyBelow({ list, again }: RoledList): readonly string[] {
  if (again === undefined) return [];
  const counts = new Map<string, number>();
  for (const domain of list.map(registrableIn)) counts.set(domain, (counts.get(domain) ?? 0) + 1);
  return [...counts].filter(([, count]) => count >= manyNames).map(([domain]) => domain);
}

const isAllowed = (ascii: string): boolean => findSuffixIn(ascii, (name) => allowed.has(name)) !== undefined;

function isDisposableBelow(ascii: string, entries: ReadonlyMap<string, DisposableEntry>): boolean {
  const registrable = registrableIn(ascii);
  for (let name = ascii; name !== registrable; ) {
    name = name.slice(name.indexOf(".") + 1);
    if (entries.has(name) || zones.includes(name) || isPrivateZone(name)) return true;
  }
  return ascii === registrable;
}

function disposableNames(lists: readonly RoledList[], { before, isPopular = () => false }: MergeOptions) {
  const found = new Map<string, number>();
  const bits = { list: 0, doubted: 0, aged: 0, doubt: 0, witness: 0, old: 0 };
  for (const [index, { role, list }] of lists.entries()) {
    bits[role] |= 1 << index;
    for (const listed of list) {
      const name = listed.trim().toLowerCase();
      found.set(name, (found.get(name) ?? 0) | (1 << index));
    }
  }
  const isCorrected = (name: string, correctedBy: readonly ListRole[], isClean: boolean) =>
    before === undefined || correctedBy.every((role) => bits[role] !== 0) ? isClean : !isListed(before, name);
  for (const [name, inLists] of found) {
    const isIn = (role: ListRole) => (inLists & bits[role]) !== 0;
    const isDoubted = () => isCorrected(name, ["doubt", "witness"], isIn("doubt") || isIn("witness"));
    const isOld = () => isCorrected(name, ["old", "witness"], isIn("old") && !isIn("witness"));
    const isAdded = (isIn("doubted") && !isDoubted()) || (isIn("aged") && !isOld());
    if (!isIn("list") && (!isAdded || isPopular(registrableIn(name)))) found.delete(name);
  }
  return found;
}

function isListed(table: DisposableTable, listed: string): boolean {
  const name = parseDomainName(listed);
  return !(name instanceof Fault) && table.find(`x.${name.ascii}`) !== undefined;
}
