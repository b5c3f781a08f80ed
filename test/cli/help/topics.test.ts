/** Covers the help topics: they name all that the code knows. */
import { expect, test } from "vitest";
import { reasonCodes } from "../../../src/classifier/verdict.js";
import { environmentVariables } from "../../../src/cli/config/environment.js";
import { settings } from "../../../src/cli/config/settings.js";
import { exitCodes } from "../../../src/cli/exit-codes.js";
import { topicNames } from "../../../src/cli/help/topic-names.js";
import { printTopic } from "../../../src/cli/help/topics.js";
import { knownStatuses } from "../../../src/validator/validator.js";

const commas = (names: readonly string[]) => names.flatMap((name) => name.split(", "));

test.each<[string, readonly string[]]>([
  ["statuses", [...knownStatuses, ...reasonCodes]],
  ["settings", Object.values(settings).flatMap(({ flag, variable }) => [flag.split(" ")[0]!, variable])],
  ["environment", commas(Object.keys(environmentVariables))],
  ["exit-codes", Object.values(exitCodes).map(String)],
])("%s names everything that it is about", async (topic, names) => {
  const text = await printTopic(topic);
  for (const name of names) expect(text).toContain(name);
});

test.each(topicNames)("%s is wrapped to 80 columns off a terminal", async (topic) => {
  const text = await printTopic(topic);
  expect(text).toMatch(/^[A-Z ]+\n/);
  expect(text.length).toBeGreaterThan(300);
  expect(text).not.toMatch(/\*\*|`|\{\{|undefined/);
  expect(text.split("\n").filter((line) => line.length > 80 && !line.startsWith("  $ "))).toEqual([]);
});
