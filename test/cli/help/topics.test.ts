/** Covers the help topics: they name all that the code knows. */
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { environmentVariables } from "../../../src/cli/config/environment.js";
import { settingNames, variableOf } from "../../../src/cli/config/settings.js";
import { exitCodeMeanings, exitCodes } from "../../../src/cli/exit-codes.js";
import { topicNames } from "../../../src/cli/help/topic-names.js";
import { printTopic } from "../../../src/cli/help/topics.js";
import { reasons } from "../../../src/core/classifier/rules/rules.js";
import { statusWords } from "../../../src/core/validator/statuses.js";
import { knownStatuses } from "../../../src/core/validator/validator.js";

const commas = (names: readonly string[]) => names.flatMap((name) => name.split(", "));

test.each<[string, readonly string[]]>([
  ["statuses", [...knownStatuses, ...reasons.map(({ code }) => code)]],
  ["settings", settingNames.flatMap((name) => [name, variableOf(name)])],
  ["environment", commas(Object.keys(environmentVariables))],
  ["exit-codes", Object.values(exitCodes).map(String)],
])("the topic %s names every item that it documents", async (topic, names) => {
  const text = printTopic(topic);
  for (const name of names) expect(text).toContain(name);
});

test("the README and the topic exit-codes give the same meanings of exit codes as the commands", async () => {
  const readme = readFileSync(new URL("../../../README.md", import.meta.url), "utf8");
  const codes = Object.entries(exitCodeMeanings);
  const rows = [...readme.matchAll(/^\| (\d+) +\| (.*?) +\|$/gm)].map(([, code, meaning]) => [code, meaning]);
  expect(rows.map(([code, meaning]) => [code, meaning!.replaceAll("`", "")])).toEqual(codes);
  const topic = printTopic("exit-codes").replace(/\s+/g, " ");
  for (const [code, meaning] of codes) expect(topic).toContain(` ${code} ${meaning} `);
});

test("the README and the topic statuses have the words of the records", async () => {
  const readme = readFileSync(new URL("../../../README.md", import.meta.url), "utf8");
  const rows = [...readme.matchAll(/^\| `(\w+)` +\| (.*?) +\| (.*?) +\|$/gm)].map((row) => row.slice(1));
  const topic = printTopic("statuses").replace(/\s+/g, " ");
  const expected = knownStatuses.map((status) => {
    const { meaning, advice, command } = statusWords[status];
    for (const words of [meaning, advice, command ?? ""])
      for (const word of words.replaceAll("`", "").split(" ")) expect(topic).toContain(word);
    return [status, meaning, [advice, command].filter((words) => words !== undefined).join(" ")];
  });
  expect(rows).toEqual(expected);
});

test.each(topicNames)("the topic %s is wrapped to 80 columns without a terminal", async (topic) => {
  const text = printTopic(topic);
  expect(text).toMatch(/^[A-Z ]+\n/);
  expect(text.length).toBeGreaterThan(300);
  expect(text).not.toMatch(/\*\*|`|\{\{|undefined/);
  expect(text.split("\n").filter((line) => line.length > 80 && !line.startsWith("  $ "))).toEqual([]);
});
