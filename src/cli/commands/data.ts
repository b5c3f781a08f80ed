/** `idv data`: the lists of disposable domains that the offline engine uses. */
import { daysOld, findTable } from "../../data/installed-table.js";
import { updateTable } from "../../data/update.js";
import { dataTablePath } from "../config/paths.js";
import { type OptionValues, optionRecords } from "../options/option.js";
import { printListing } from "../terminal/listing.js";
import { print } from "../terminal/standard-output.js";
import { counted, grouped, say } from "../terminal/terminal.js";
import { type DefineCommand, describe } from "./command.js";

const environment = ["XDG_DATA_HOME"] as const;

const showOptions = optionRecords({ json: { flags: "--json", help: "print a JSON object" } });

const updateOptions = optionRecords({
  force: { flags: "--force", help: "install lists that grow or shrink much or have popular domains" },
});

export const define: DefineCommand = (data) => {
  describe(data, {
    description: "Shows or updates the data of the offline engine.",
    examples: ["data show", "data update"],
    environment,
  });
  const showDescription = "Print the sources of the disposable domains: versions, dates, counts, licences.";
  describe(data.command("show").summary(showDescription), {
    description: showDescription,
    examples: ["data show", "data show --json"],
    options: showOptions,
    environment,
  }).action(showData);
  const updateDescription = "Fetch newer lists from the npm registry. Needs npm.";
  describe(data.command("update").summary(updateDescription), {
    description: updateDescription,
    examples: ["data update"],
    options: updateOptions,
    environment,
    exitCodes: [5],
  }).action(updateData);
};

async function updateData({ force }: OptionValues<typeof updateOptions>): Promise<void> {
  print(`${await updateTable(dataTablePath(process.env), { force: force === true, onNotice: say })}\n`);
}

async function showData(options: { readonly json?: true }): Promise<void> {
  const { path, table } = findTable(dataTablePath(process.env), say);
  const { size, sources } = table;
  if (options.json) {
    print(`${JSON.stringify({ file: path ?? null, entries: size, sources })}\n`);
    return;
  }
  await printListing({
    header: ["source", "role", "version", "published", "domains", "licence"],
    rows: sources.map(({ name, role = "list", version, published, domains, licence }) => [
      name,
      role,
      version,
      published,
      grouped(domains),
      licence,
    ]),
  });
  const days = daysOld(sources, Date.now());
  const age = days === undefined ? "" : `; the newest list is ${counted(days, "day")} old`;
  print(`${grouped(size)} entries, ${path ?? "came with idv"}${age}\n`);
}
