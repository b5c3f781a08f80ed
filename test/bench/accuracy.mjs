// node test/bench/accuracy.mjs [--disposable FILE]... [--legit FILE]... [--addresses FILE]... [--syntax FILE]...
//
// - Disposable domains of a list that are caught, and legitimate domains that are wrongly flagged: by idv, by the lists of
//   its packages alone, which are its peers, and by other recipes for its table, from strict to generous.
// - Addresses of real people by the reason that idv gives them. Only domains are printed, never an address.
// - Addresses of a suite on which the syntax layer agrees.
//
// - Always: typos of large providers that are made by rules (made-typos.mjs), beside mailcheck and
//   @zootools/email-spell-checker if they are installed (npm install --no-save): found and right, found and wrong, and
//   suggestions for the popular domains, which are real.
//
// Lists have one domain or address a line, before any tab or comma; a suite is JSON:
// [{ "address": "...", "smtpValid": true }, ...].
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { parseArgs } from "node:util";
import { isKnownProvider } from "../../dist/core/classifier/known-providers.js";
import { fastmailDomains, mailcomDomains, majorProviders } from "../../dist/core/classifier/providers.js";
import { parseAddress } from "../../dist/core/classifier/syntax/address.js";
import { Fault } from "../../dist/core/classifier/syntax/fault.js";
import { compileDisposableTable, DisposableTable } from "../../dist/core/classifier/tables/disposable-table.js";
import { readSmallTable, smallTableDomains } from "../../dist/core/classifier/tables/small-table.js";
import { loadPopular } from "../../dist/engines/data/popular-domains.js";
import { listPackages, mergeDisposableLists, namesIn, publicList } from "../../dist/engines/data/sources.js";
import { classifyDomain, classifyEmail } from "../../dist/index.js";
import { builtFile } from "../../dist/package/own-files.js";
import { largeProviders, madeTypos } from "./made-typos.mjs";
import { say } from "./measure.mjs";

const files = { type: "string", multiple: true, default: [] };
const { values } = parseArgs({ options: { disposable: files, legit: files, addresses: files, syntax: files } });
const percent = (part, whole) => `${((100 * part) / Math.max(1, whole)).toFixed(3)} %`;
const linesIn = (file) => [
  ...new Set(
    readFileSync(file, "utf8")
      .split("\n")
      .map((line) => line.replace(/#.*/, "").split(/[\t,]/)[0].trim().toLowerCase())
      .filter((line) => line !== ""),
  ),
];

/** Each package with its list, from the installed copy. */
const lists = listPackages.map((source) => {
  const [folder] = createRequire(import.meta.url)
    .resolve.paths(source.name)
    .map((folder) => `${folder}/${source.name}`)
    .filter((folder) => {
      try {
        return readFileSync(`${folder}/${source.file}`);
      } catch {
        return false;
      }
    });
  return { ...source, list: namesIn(readFileSync(`${folder}/${source.file}`, "utf8")) };
});
const publicCopy = readFileSync(new URL("../../src/engines/data/disposable-domains.txt", import.meta.url), "utf8");
lists.push({ ...publicList, list: namesIn(publicCopy) });
const isPopular = loadPopular();
/** Whether a name, or one above it, is in a set. */
const isUnder = (set, domain) => {
  for (let rest = domain; ; rest = rest.slice(rest.indexOf(".") + 1)) {
    if (set.has(rest)) return true;
    if (!rest.includes(".")) return false;
  }
};
const tableOf = (roles) => {
  const entries = mergeDisposableLists(
    lists.map((one) => ({ ...one, role: roles(one) })),
    { isPopular },
  );
  const table = new DisposableTable(compileDisposableTable(entries));
  return { size: table.size, has: (domain) => table.find(domain) !== undefined };
};
const small = readSmallTable(readFileSync(builtFile("classifier/small.bin")));
const withRoles = (...names) => tableOf(({ role }) => (names.includes(role) ? "list" : "ignored"));
const judges = [
  ["idv", { size: "", has: (domain) => classifyDomain(domain).status === "disposable" }],
  ["  its table", tableOf(({ role }) => role)],
  ["  the small table, for forms", { size: smallTableDomains, has: (domain) => small.find(domain) !== undefined }],
  ["  lists only", withRoles("list")],
  [
    "  also names that others doubt",
    tableOf(({ role }) => (role === "doubt" || role === "witness" ? "ignored" : role)),
  ],
  ["  lists and aged, unfiltered", withRoles("list", "aged")],
  ["  lists, aged, doubted, unfiltered", withRoles("list", "aged", "doubted")],
  ["  everything", tableOf(() => "list")],
  ...lists.map(({ name, list }) => {
    const set = new Set(list.map((one) => one.toLowerCase()));
    return [name, { size: set.size, has: (domain) => isUnder(set, domain) }];
  }),
];

/** Prints a line for each judge: how many of the domains it calls disposable. */
function compare(domains) {
  for (const [name, { size, has }] of judges) {
    const count = domains.filter(has).length;
    const figures = [String(size).padStart(8), String(count).padStart(8), percent(count, domains.length)];
    say(`  ${name.padEnd(42)} ${figures.join("  ")}`);
  }
}
const heading = `  ${"".padEnd(42)} ${"entries".padStart(8)}  ${"found".padStart(8)}`;

for (const file of values.disposable) {
  const domains = linesIn(file);
  const fake = domains.filter((domain) => classifyDomain(domain).status === "fake").length;
  say(`${file}: ${domains.length} disposable domains, ${fake} fake for idv\n${heading}`);
  compare(domains);
}
for (const file of values.legit) {
  const domains = linesIn(file);
  const flagged = domains.map((domain) => [domain, classifyDomain(domain)]);
  const fake = flagged.filter(([, { status }]) => status === "fake").length;
  say(
    `${file}: ${domains.length} legitimate domains, ${fake} (${percent(fake, domains.length)}) fake for idv\n${heading}`,
  );
  compare(domains);
  for (const [domain, { status, reason }] of flagged) if (status !== "ok") say(`    ${domain}\t${reason}`);
}
for (const file of values.addresses) {
  const reasons = new Map();
  const addresses = linesIn(file);
  for (const address of addresses) {
    const { status, reason = "" } = classifyEmail(address);
    const code = `${status} ${reason.split(":")[0]}`.trim();
    const domain = address.includes("@") ? address.slice(address.lastIndexOf("@") + 1) : "";
    if (!reasons.has(code)) reasons.set(code, []);
    reasons.get(code).push(domain);
  }
  say(`${file}: ${addresses.length} addresses`);
  for (const [code, domains] of [...reasons].sort((a, b) => b[1].length - a[1].length)) {
    const shown = /^(?:ok|alias)/.test(code) ? "" : [...new Set(domains)].slice(0, 20).join(" ");
    say(
      `  ${code.padEnd(28)} ${String(domains.length).padStart(8)}  ${percent(domains.length, addresses.length)}  ${shown}`,
    );
  }
}
const knownProvider = (domain) => isKnownProvider(domain) || isPopular(domain);
const typos = madeTypos(largeProviders, knownProvider);
/** Real domains of mail: the other providers that are known. */
const real = [...majorProviders, ...mailcomDomains, ...fastmailDomains];
const peers = [
  ["idv", (domain) => classifyEmail(`ann.keller@${domain}`).suggestion?.split("@")[1]],
  [
    "mailcheck",
    await peer(
      "mailcheck",
      ({ default: { run } }) =>
        (email) =>
          run({ email })?.domain,
    ),
  ],
  [
    "email-spell-checker",
    await peer(
      "@zootools/email-spell-checker",
      ({ default: { run } }) =>
        (email) =>
          run({ email })?.domain,
    ),
  ],
];

/** Returns what a package suggests for a domain; undefined if it is not installed. */
async function peer(name, make) {
  try {
    const suggest = make(await import(name));
    return (domain) => suggest(`ann.keller@${domain}`);
  } catch {
    return undefined;
  }
}

say(`${typos.length} typos that are made of ${largeProviders.length} providers; ${real.length} real domains`);
for (const [name, suggest] of peers) {
  if (suggest === undefined) {
    say(`  ${name.padEnd(22)} not installed`);
    continue;
  }
  const found = typos.map(([typo, meant]) => [suggest(typo), meant]).filter(([domain]) => domain !== undefined);
  const right = found.filter(([domain, meant]) => domain === meant).length;
  const wrong = real.filter((domain) => (suggest(domain) ?? domain) !== domain).length;
  say(
    `  ${name.padEnd(22)} right ${percent(right, typos.length)}, wrong ${percent(found.length - right, typos.length)}, suggestions for real domains ${wrong}`,
  );
}
for (const file of values.syntax) {
  const cases = JSON.parse(readFileSync(file, "utf8"));
  const wrong = cases.filter(({ address, smtpValid }) => parseAddress(address) instanceof Fault === smtpValid);
  say(`${file}: ${cases.length - wrong.length} of ${cases.length} as the suite says`);
  for (const { address, smtpValid } of wrong) say(`  ${JSON.stringify(address)}\tsmtpValid ${smtpValid}`);
}
