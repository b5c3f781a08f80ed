/** Covers the file with options of `idv serve`: which of its settings give way to the command line and to variables. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { Command } from "commander";
import { afterEach, expect, test } from "vitest";
import { takeOptionsFrom } from "../../../src/cli/config/config-file.js";
import { addOptions } from "../../../src/cli/options/option.js";
import { dnsOptions, setOptions } from "../../../src/cli/options/service.js";
import { normalizeWords } from "../../../src/cli/options/typed-words.js";
import { temporaryFolder } from "../../support/temporary-folder.js";

const { env } = process;
afterEach(() => {
  process.env = env;
});

test.each([
  ["its own", "", {}, { dns: "on", rate: 20 }],
  ["--set of another setting", "--set dnsConcurrency=5", {}, { dns: "on", rate: 20 }],
  ["--set", "--set dnsRate=50/s", {}, { dns: "on", rate: 50 }],
  ["--set of an option", "--set dns=off", {}, { dns: undefined, rate: 20 }],
  ["an option", "--dns=strict", {}, { dns: { mostUndecided: 0.5 }, rate: 20 }],
  ["a variable", "", { IDV_DNS_RATE: "9/s", IDV_DNS: "off" }, { dns: undefined, rate: undefined }],
])("a setting is overridden only by its option, --set or variable: %s", (_, words, variables, expected) => {
  const path = join(temporaryFolder(), "serve.json");
  writeFileSync(path, JSON.stringify({ dns: true, set: ["dnsRate=20/s"] }));
  process.env = variables;
  const records = { ...dnsOptions, ...setOptions };
  const command = new Command("serve");
  addOptions(command, records);
  command.parse(normalizeWords(words.split(" ").filter(Boolean), command), { from: "user" });
  takeOptionsFrom(path, { command, records, variables: { dns: ["IDV_DNS"] } });
  const { dns, set } = command.opts<{ dns?: string; set: [name: string, value: { items: number }][] }>();
  expect({ dns, rate: set.findLast(([name]) => name === "dnsRate")?.[1].items }).toEqual(expected);
});
