/** Covers the parsers of option values: the values that each takes and rejects. */
import { expect, test } from "vitest";
import { serviceUrl, webOrigin } from "../../../src/cli/options/addresses.js";
import {
  duration,
  expiryDate,
  filled,
  InvalidValue,
  itemRate,
  logTarget,
  markCharacter,
  oneCharacter,
  oneOf,
  path,
  permissionList,
  quoting,
  shardOf,
  unitLimit,
  waitTime,
  wholeNumber,
} from "../../../src/cli/options/values.js";
import { badRowHandling, failCondition, statusList } from "../../../src/cli/options/words.js";

const time = duration(1, 86_400_000);

test.each<[string, (text: string) => unknown, string, unknown]>([
  ["filled", filled, "x", "x"],
  ["oneOf", oneOf("auto", "api"), " Api", "api"],
  ["path", path, "./-", "./-"],
  ["oneCharacter", oneCharacter, ";", ";"],
  ["oneCharacter", oneCharacter, "\\t", "\t"],
  ["oneCharacter", oneCharacter, "tab", "\t"],
  ["markCharacter", markCharacter, "'", "'"],
  ["unitLimit", unitLimit, "none", "none"],
  ["unitLimit", unitLimit, "0", 0],
  ["wholeNumber", wholeNumber(1, 64), "64", 64],
  ["webOrigin", webOrigin, "https://shop.example.com", "https://shop.example.com"],
  ["expiryDate", expiryDate, "never", "never"],
  ["expiryDate", expiryDate, "2028-02-29", Date.UTC(2028, 1, 29)],
  ["permissionList", permissionList, "emails, domains", ["emails", "domains"]],
  ["statusList", statusList("email"), "fake,alias", ["fake", "alias"]],
  ["oneOf", oneOf("api", "offline"), "api", "api"],
  ["quoting", quoting, "none", { quote: "" }],
  ["quoting", quoting, "'", { quote: "'" }],
  ["quoting", quoting, '"\\', { quote: '"', escape: "\\" }],
  ["badRowHandling", badRowHandling, "keep", { policy: "keep" }],
  ["badRowHandling", badRowHandling, "skip:a:b.csv", { policy: "skip", file: "a:b.csv" }],
  ["logTarget", logTarget, "plain", { format: "plain" }],
  ["logTarget", logTarget, "json:runs.jsonl", { summaryFile: "runs.jsonl" }],
  ["failCondition", failCondition("email"), "fake", { statuses: ["fake"], needsRows: false }],
  ["failCondition", failCondition("email"), "no-rows", { statuses: [], needsRows: true }],
  [
    "failCondition",
    failCondition("email"),
    "disposable, fake:0.5%,no-rows",
    { statuses: ["disposable", "fake"], limit: { count: 0.5, isPerCent: true }, needsRows: true },
  ],
  ["serviceUrl", serviceUrl, "https://example.com/v1/", "https://example.com/v1"],
  ["duration", time, "500ms", 500],
  ["duration", time, "1.5h", 5_400_000],
  ["duration", time, "1.5ms", 2],
  ["duration", duration(0, 1000), "0", 0],
  ["duration", time, "1d", 86_400_000],
  ["waitTime", waitTime, "", Number.POSITIVE_INFINITY],
  ["waitTime", waitTime, "12h", 43_200_000],
  ["itemRate", itemRate, "1000/h", { items: 1000, milliseconds: 3_600_000 }],
])("%s accepts $2", (...[, parse, text, expected]) => expect(parse(text)).toEqual(expected));

test.each([
  ["2/4", {}, { index: 2, count: 4 }],
  ["index/4", { JOB_COMPLETION_INDEX: "0" }, { index: 1, count: 4 }],
  ["index/4", { AWS_BATCH_JOB_ARRAY_INDEX: "3" }, { index: 4, count: 4 }],
  ["index/2", { CLOUD_RUN_TASK_INDEX: "1", CLOUD_RUN_TASK_COUNT: "2" }, { index: 2, count: 2 }],
])("shardOf reads %s with %o", (text, env, expected) => expect(shardOf(text, env)).toEqual(expected));

test.each([
  ["0/4", {}],
  ["5/4", {}],
  ["index/4", {}],
  ["index/4", { JOB_COMPLETION_INDEX: "4" }],
  ["index/4", { JOB_COMPLETION_INDEX: "x" }],
  ["index", { JOB_COMPLETION_INDEX: "1" }],
  ["index/4", { JOB_COMPLETION_INDEX: "-1" }],
  ["index/3", { CLOUD_RUN_TASK_INDEX: "1", CLOUD_RUN_TASK_COUNT: "2" }],
  ["index/8", { SLURM_ARRAY_TASK_ID: "3" }],
])("shardOf rejects %s with %o", (text, env) => expect(() => shardOf(text, env)).toThrow(InvalidValue));

test.each<[string, (text: string) => unknown, string[]]>([
  ["filled", filled, [""]],
  ["path", path, ["", "-"]],
  ["oneCharacter", oneCharacter, ["ab", '"', "é"]],
  ["markCharacter", markCharacter, ["a", " "]],
  ["unitLimit", unitLimit, ["-1", "1e3"]],
  ["wholeNumber", wholeNumber(1, 64), ["0", "65", "1.5"]],
  ["webOrigin", webOrigin, ["https://shop.example.com/x"]],
  ["expiryDate", expiryDate, ["2027-02-31", "tomorrow"]],
  ["permissionList", permissionList, ["all"]],
  ["statusList", statusList("domain"), ["alias"]],
  ["oneOf", oneOf("api", "offline"), ["apix"]],
  ["quoting", quoting, ["'''", "a"]],
  ["badRowHandling", badRowHandling, ["error:f", "skip:", "skip:-"]],
  ["logTarget", logTarget, ["json:", "sarif", "gitlab:"]],
  ["failCondition", failCondition("domain"), ["alias"]],
  ["failCondition", failCondition("email"), ["fake:1,ok:2", ":2%", "fake:2.5", "fake:101%", "fake:"]],
  ["serviceUrl", serviceUrl, ["ftp://example.com", "https://user:password@example.com", "https://example.com/?key=1"]],
  ["duration", time, ["2d", "0", "1w"]],
  ["waitTime", waitTime, ["1ms"]],
  ["itemRate", itemRate, ["0/s", "5"]],
])("%s rejects each of $2", (...[, parse, texts]) => {
  for (const text of texts) expect(() => parse(text), text).toThrow(InvalidValue);
});
