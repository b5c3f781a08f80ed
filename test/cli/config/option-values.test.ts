/** Covers the parsers of option values: the values that each takes and rejects. */
import { InvalidArgumentError } from "commander";
import { describe, expect, test } from "vitest";
import {
  duration,
  engineName,
  expiryDate,
  filled,
  itemRate,
  markCharacter,
  oneCharacter,
  path,
  permissionList,
  serviceUrl,
  statusList,
  unitLimit,
  waitTime,
  webOrigin,
  wholeNumber,
} from "../../../src/cli/config/option-values.js";

const time = duration(1, 86_400_000);

test.each<[string, (text: string) => unknown, string, unknown]>([
  ["filled", filled, "x", "x"],
  ["path", path, "./-", "./-"],
  ["oneCharacter", oneCharacter, ";", ";"],
  ["oneCharacter", oneCharacter, "\\t", "\t"],
  ["oneCharacter", oneCharacter, "tab", "\t"],
  ["markCharacter", markCharacter, "'", "'"],
  ["unitLimit", unitLimit, "none", "none"],
  ["unitLimit", unitLimit, "0", 0],
  ["wholeNumber", wholeNumber(1, 64), "64", 64],
  ["webOrigin", webOrigin, "https://shop.example.com", ["https://shop.example.com"]],
  ["expiryDate", expiryDate, "never", "never"],
  ["expiryDate", expiryDate, "2028-02-29", Date.UTC(2028, 1, 29)],
  ["permissionList", permissionList, "emails, domains", ["emails", "domains"]],
  ["statusList", statusList("email"), "fake,alias", ["fake", "alias"]],
  ["engineName", engineName, "api", "api"],
  ["serviceUrl", serviceUrl, "https://example.com/v1/", "https://example.com/v1"],
  ["duration", time, "500ms", 500],
  ["duration", time, "1.5h", 5_400_000],
  ["duration", time, "1.5ms", 2],
  ["duration", time, "30", 30_000],
  ["duration", time, "1d", 86_400_000],
  ["waitTime", waitTime, "", Number.POSITIVE_INFINITY],
  ["waitTime", waitTime, "12h", 43_200_000],
  ["itemRate", itemRate, "1000/h", { items: 1000, milliseconds: 3_600_000 }],
])("%s takes $2", (...[, parse, text, expected]) => {
  expect(parse(text)).toEqual(expected);
});

describe("invalid values", () => {
  test.each<[string, (text: string) => unknown, string]>([
    ["filled", filled, ""],
    ["path", path, ""],
    ["path", path, "-"],
    ["oneCharacter", oneCharacter, "ab"],
    ["oneCharacter", oneCharacter, '"'],
    ["oneCharacter", oneCharacter, "é"],
    ["markCharacter", markCharacter, "a"],
    ["markCharacter", markCharacter, " "],
    ["unitLimit", unitLimit, "-1"],
    ["unitLimit", unitLimit, "1e3"],
    ["wholeNumber", wholeNumber(1, 64), "0"],
    ["wholeNumber", wholeNumber(1, 64), "65"],
    ["wholeNumber", wholeNumber(1, 64), "1.5"],
    ["webOrigin", webOrigin, "https://shop.example.com/x"],
    ["expiryDate", expiryDate, "2027-02-31"],
    ["expiryDate", expiryDate, "tomorrow"],
    ["permissionList", permissionList, "all"],
    ["statusList", statusList("domain"), "alias"],
    ["engineName", engineName, "Api"],
    ["serviceUrl", serviceUrl, "ftp://example.com"],
    ["serviceUrl", serviceUrl, "https://user:password@example.com"],
    ["serviceUrl", serviceUrl, "https://example.com/?key=1"],
    ["duration", time, "2d"],
    ["duration", time, "0"],
    ["duration", time, "1w"],
    ["waitTime", waitTime, "1ms"],
    ["itemRate", itemRate, "0/s"],
    ["itemRate", itemRate, "5"],
  ])("%s rejects $2", (...[, parse, text]) => {
    expect(() => parse(text)).toThrow(InvalidArgumentError);
  });
});
