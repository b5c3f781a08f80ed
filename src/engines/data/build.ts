/** Compiles the lists into the tables of dist/data: public suffixes, disposable and popular domains. Run by `npm run build`. */
import { copyFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { DisposableTable } from "../../core/classifier/tables/disposable-table.js";
import { compileSmallTable, mostListed, smallTableDomains } from "../../core/classifier/tables/small-table.js";
import { compileSuffixTable, suffixTable } from "../../core/classifier/tables/suffix-table.js";
import { builtFile } from "../../package/own-files.js";
import { listOfDays, readDays } from "./daily-list.js";
import { loadPopular, popularSource } from "./popular-domains.js";
import { compileLists, dailyList, listPackages, namesIn, publicList } from "./sources.js";
import { suffixPackage, suffixRulesIn } from "./suffix-rules.js";

/** Dates stated in the package or its source, else of publication. Add each new version here. */
const dates: Readonly<Record<string, string>> = {
  // The tag of its source; the registry shows 2026-08-24.
  "disposable-domains@2.0.1": "2026-04-13",
  "disposable-email-domains-js@1.26.0": "2026-09-21",
  "fakefilter@0.1.1476": "2026-02-18",
  // The newest of the lists that it is made of; the registry shows 2026-09-23.
  "@emailalias/disposable-email-detector@0.1.2": "2026-06-22",
  "mailchecker@6.0.21": "2026-07-18",
  "burner-email-providers@1.0.67": "2024-12-11",
  "disposable-email-domains@1.0.62": "2024-12-07",
  "tldts@7.5.4": "2026-11-15",
};

const firstCopy = readFileSync(new URL("../../../src/engines/data/disposable-domains.txt", import.meta.url), "utf8");
/** Day on which the copy was made. Update it, and the one in NOTICE, with the file. */
const copied = "2026-08-08";

const packages = listPackages.map(({ name, role, file }) => {
  const { text, ...version } = installed(name, file);
  const list = namesIn(text);
  if (list === undefined) throw new Error(`${name}@${version.version}: no names in ${file}`);
  return { name, role, ...version, list };
});
const { name, role, licence } = publicList;
const days = new URL("../../../src/engines/data/castle-days.tsv", import.meta.url);
const daily = readDays(readFileSync(days, "utf8"));
const versions = [
  ...packages,
  { name, role, licence, version: copied, published: copied, list: namesIn(firstCopy)! },
  { ...dailyList, version: daily.lastDay, published: daily.lastDay, ...listOfDays(daily) },
];
for (const name of ["classifier/suffixes.bin", "data/popular.bin"] as const)
  mkdirSync(new URL(".", builtFile(name)), { recursive: true });
// Written first: the other table needs them to leave out public suffixes and popular domains.
const { text, version, published } = installed(suffixPackage.name, suffixPackage.file);
const rules = suffixRulesIn(text);
writeFileSync(builtFile("classifier/suffixes.bin"), compileSuffixTable(rules));
copyFileSync(popularSource, builtFile("data/popular.bin"));
copyFileSync(days, builtFile("data/castle-days.tsv"));
const suffixes = { version, published, rules: rules.length };
const { table } = compileLists(versions, { isPopular: loadPopular(), suffixes });
writeFileSync(builtFile("classifier/disposable.bin"), table);
const common = mostListed(new DisposableTable(table), smallTableDomains);
writeFileSync(builtFile("classifier/small.bin"), compileSmallTable(common, suffixTable().slots));

function installed(name: string, file: string) {
  const folder = dirname(findPackageJson(name));
  const { version, license } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  const published = dates[`${name}@${version}`];
  if (published === undefined) throw new Error(`${name}@${version}: add the date of its data to build.ts`);
  return { text: readFileSync(join(folder, file), "utf8"), version, published, licence: license };
}

function findPackageJson(name: string): string {
  const folders = createRequire(import.meta.url).resolve.paths(name) ?? [];
  const found = folders.map((folder) => join(folder, name, "package.json")).find((path) => existsSync(path));
  if (found === undefined) throw new Error(`${name} is not installed; run npm ci`);
  return found;
}
