/** Covers when a stream shows colours. */
import { expect, test } from "vitest";
import { showsColour } from "../../../src/cli/terminal/terminal.js";

test.each<[string, boolean | undefined, Record<string, string>, boolean]>([
  ["a terminal", true, {}, true],
  ["no terminal", undefined, {}, false],
  ["a dumb terminal", true, { TERM: "dumb" }, false],
  ["NO_COLOR", true, { NO_COLOR: "1", FORCE_COLOR: "1" }, false],
  ["an empty NO_COLOR", true, { NO_COLOR: "" }, true],
  ["FORCE_COLOR", undefined, { FORCE_COLOR: "1" }, true],
  ["FORCE_COLOR=0", true, { FORCE_COLOR: "0" }, false],
])("shows colours with %s: $3", (_, isTTY, env, expected) => {
  expect(showsColour({ ...(isTTY !== undefined && { isTTY }) }, env)).toBe(expected);
});
