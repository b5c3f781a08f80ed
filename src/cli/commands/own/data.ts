/** `idv data`: the lists of disposable domains that the offline engine uses. */
import { type DisposableTable, daysOld, ownBit } from "../../../core/classifier/tables/disposable-table.js";
import { dailyListUrl } from "../../../engines/data/daily-list.js";
import { findTable } from "../../../engines/data/installed-table.js";
import { addsNames, type ListRole, publicListUrl } from "../../../engines/data/sources.js";
import { updateTable } from "../../../engines/data/update.js";
import { counted, grouped } from "../../../text.js";
import { npmRegistry } from "../../config/npm-registry.js";
import { dataTablePath } from "../../config/paths.js";
import { resolveSettings } from "../../config/resolve-settings.js";
import { proxiesFor } from "../../engines/proxies.js";
import { jsonOption, type OptionValues, optionRecords } from "../../options/option.js";
import { listUrlOptions } from "../../options/service.js";
import { printListing } from "../../terminal/listing.js";
import { print } from "../../terminal/standard-output.js";
import { say } from "../../terminal/terminal.js";
import { commandsOf, type DefineCommand, describe } from "../command.js";

const updateOptions = optionRecords({
  force: { flags: "--force", help: "install lists that grow or shrink much or have popular domains" },
  ...listUrlOptions,
});

export const define: DefineCommand = (data) => {
  describe(data, {
    description: "Shows or updates the data of the offline engine.",
    examples: ["data show", "data update"],
    environment: ["XDG_DATA_HOME"],
  });
  const define = commandsOf(data);
  define(
    "show",
    { options: jsonOption },
    "Print the sources of the disposable domains: versions, dates, counts, licences.\nLists with the role list, doubted or aged add names; doubt, witness and old only remove names.",
    ...["data show", "data show --json"],
  ).action(showData);
  const environment = ["XDG_DATA_HOME", "HTTP_PROXY, HTTPS_PROXY, NO_PROXY", "npm_config_registry"] as const;
  define(
    "update",
    { options: updateOptions, environment, exitCodes: [5] },
    "Fetch newer lists from the npm registry and over HTTPS.",
    "data update",
  ).action(updateData);
};

async function updateData(options: OptionValues<typeof updateOptions>): Promise<void> {
  const settings = await resolveSettings(options, process.env, undefined, say);
  const { value: url = publicListUrl } = settings.listUrl;
  const { value: dayUrl = url === "none" ? url : dailyListUrl } = settings.dailyListUrl;
  const named = (text: string) => (text === "none" ? undefined : text);
  const urls = { registry: npmRegistry(process.env), listUrl: named(url), dailyUrl: named(dayUrl) };
  const sources = { ...urls, proxiesFor: (place: string) => proxiesFor(place, process.env) };
  const force = options.force === true;
  print(`${await updateTable(dataTablePath(process.env), sources, { force, onNotice: say })}\n`);
}

async function showData(options: OptionValues<typeof jsonOption>): Promise<void> {
  const { path, table } = findTable(dataTablePath(process.env), say);
  const { size, sources, suffixes } = table;
  const alone = countAlone(table);
  if (options.json) {
    const all = sources.map((source, i) => ({ ...source, onlyHere: alone[i] }));
    const { slots: _, ...stored } = suffixes ?? {};
    print(`${JSON.stringify({ file: path ?? null, entries: size, sources: all, suffixes: stored })}\n`);
    return;
  }
  const rows = sources.map(({ name, role = "list", version, published, domains, licence }, i) => {
    const figures = [String(daysSince(published) ?? ""), grouped(domains), grouped(alone[i]!)];
    return [name, role, version, published, ...figures, licence];
  });
  const header = ["source", "role", "version", "published", "days old", "domains", "only here", "licence"];
  await printListing({ header, rows });
  if (suffixes) {
    const { version, published, rules } = suffixes;
    const days = daysSince(published);
    const age = days === undefined ? "" : `, ${counted(days, "day")} old`;
    print(`public suffixes: ${grouped(rules)} rules, tldts ${version}, ${published}${age}\n`);
  }
  const days = daysOld(sources, Date.now());
  const age = days === undefined ? "" : `; the newest list is ${counted(days, "day")} old`;
  print(`${grouped(size)} entries, ${path ?? "came with idv"}${age}\n`);
}

const daysSince = (published: string): number | undefined => daysOld([{ published }], Date.now());

/** Domains that no other source adds. Correcting lists add none. */
function countAlone(table: DisposableTable): readonly number[] {
  const adding = table.sources.map(({ role = "list" }) => addsNames(role as ListRole));
  const mask = adding.reduce((bits, adds, i) => bits | (Number(adds) << i), ownBit);
  return table.sources.map((_, i) =>
    adding[i] ? [...table.entriesIn(1 << i)].filter(({ lists }) => (lists & mask) === 1 << i).length : 0,
  );
}
