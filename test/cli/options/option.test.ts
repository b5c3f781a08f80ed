/** Covers options as records: their values, the words that gave them, values that are left out, and removed options. */
import { Command } from "commander";
import { expect, test } from "vitest";
import { bulkOptions } from "../../../src/cli/options/bulk.js";
import { addOptions, givenOptions } from "../../../src/cli/options/option.js";
import { normalizeWords } from "../../../src/cli/options/typed-words.js";

/** Parses words as `idv emails` does. */
function parse(words: readonly string[]) {
  const command = new Command("emails").exitOverride().argument("[FILE...]");
  for (const [group, records] of Object.entries(bulkOptions("email"))) addOptions(command, records, group);
  command.parse(normalizeWords(words, command), { from: "user" });
  return { command, options: command.opts(), files: command.args };
}

test("every option stores its value under the name of its record", () => {
  const command = new Command("emails");
  for (const [group, records] of Object.entries(bulkOptions("email"))) {
    const before = command.options.length;
    addOptions(command, records, group);
    expect(command.options.slice(before).map((option) => option.attributeName())).toEqual(Object.keys(records));
  }
});

test.each<[string, Record<string, unknown>, string[]]>([
  ["-I list.csv", { inPlace: "" }, ["list.csv"]],
  ["-I.bak list.csv", { inPlace: ".bak" }, ["list.csv"]],
  ["-qI list.csv", { inPlace: "", quiet: true }, ["list.csv"]],
  ["-cKPI list.csv", { column: ["KPI"] }, ["list.csv"]],
  ["--only ok --only alias,ok", { only: ["ok", "alias"] }, []],
  ["--fail-on fake --fail-on no-rows", { failOn: { statuses: ["fake"], needsRows: true } }, []],
  ["--fail-on fake,fake:29", { failOn: { statuses: ["fake"], limit: { count: 29, isPerCent: false } } }, []],
  ["--in-place=~ list.csv", { inPlace: "~" }, ["list.csv"]],
  ["--update list.csv", { update: "rest" }, ["list.csv"]],
  ["--update=all list.csv", { update: "all" }, ["list.csv"]],
  ["--dedupe list.csv", { dedupe: "item" }, ["list.csv"]],
  ["--dns list.csv", { dns: "on" }, ["list.csv"]],
  ["--dns=strict list.csv", { dns: { mostUndecided: 0.5 } }, ["list.csv"]],
  ["--dns=strict:2.5% list.csv", { dns: { mostUndecided: 0.025 } }, ["list.csv"]],
  ["--wait list.csv", { wait: Number.POSITIVE_INFINITY }, ["list.csv"]],
  ["--wait 5m list.csv", { wait: 300_000 }, ["list.csv"]],
  ["--wait=5m list.csv", { wait: 300_000 }, ["list.csv"]],
  ["-- -I --dns", {}, ["-I", "--dns"]],
  ["-c a -c b -n", { column: ["a", "b"], headers: false }, []],
  ["--set timeout=1m --set cell=best", { set: Object.entries({ timeout: 60_000, cell: "best" }) }, []],
  ["--log json --log json:f", { log: [{ format: "json" }, { summaryFile: "f" }] }, []],
])("parses %s", (words, expected, files) => {
  const parsed = parse(words.split(" "));
  expect(parsed.options).toMatchObject(expected);
  expect(parsed.files).toEqual(files);
});

test("the words returned for the given options set the same options again", () => {
  const { command } = parse(["-c", "a", "-Ilist.bak", "-n", "--dns", "--wait", "--deny=d", "-q", "l.csv"]);
  expect(givenOptions(command).map(({ name, words }) => [name, ...words])).toEqual([
    ["column", "-c", "a"],
    ["inPlace", "--in-place=list.bak"],
    ["headers", "-n"],
    ["dns", "--dns=on"],
    ["wait", "--wait"],
    ["deny", "--deny", "d"],
    ["quiet", "-q"],
  ]);
});
