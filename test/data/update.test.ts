/** Covers which downloaded lists may replace the data in use. */
import { describe, expect, test } from "vitest";
import { compileDisposableTable, DisposableTable } from "../../src/core/classifier/tables/disposable-table.js";
import type { PackageVersion } from "../../src/engines/data/npm-packages.js";
import { mergeDisposableLists, type RoledList } from "../../src/engines/data/sources.js";
import { compileDownloads, type Download, hasNewer } from "../../src/engines/data/update.js";

const source = { name: "some-list", version: "2.0.1", published: "2026-04-13", licence: "MIT", domains: 7000 };
const inUse = new DisposableTable(
  compileDisposableTable(
    Array.from({ length: 5000 }, (_, i) => ({ domain: `throwaway-${i}.com`, onlyBelow: false })),
    [source],
  ),
);
const { domains: _, ...facts } = source;
const download = (content: unknown, version = "9.0.0"): Download & PackageVersion => ({
  ...facts,
  version,
  integrity: "",
  tarball: "",
  role: "list",
  bytes: Buffer.from(typeof content === "string" ? content : JSON.stringify(content)),
});
/** Compiles one list; returns the table and the notices. */
function compile(content: unknown, force = false) {
  const notices: string[] = [];
  const options = { force, onNotice: (text: string) => void notices.push(text) };
  return { table: new DisposableTable(compileDownloads([download(content)], inUse, options)), notices };
}
const popular = ["bbc.co.uk", "mit.edu", "chase.com", "siemens.com", "cnn.com", "wikipedia.org"];
const names = (count: number) => Array.from({ length: count }, (_, i) => `new-${i}.com`);

describe("downloaded lists", () => {
  test("compile into a table that names their sources", () => {
    const { table } = compile(names(6000));
    expect(table.find("a.new-5999.com")).toBe("new-5999.com");
    expect(table.sources).toEqual([{ ...source, version: "9.0.0", domains: 6000, role: "list" }]);
  });

  test.each<[string, string[]]>([
    ["be half as long as those in use", names(3500)],
    ["grow 1.25 times", names(6000)],
    ["have five popular domains", [...names(5000), ...popular.slice(0, 5)]],
  ])("may %s", (_, list) => expect(compile(list).notices).toEqual([]));

  // Of the same length for the table, which has each name once.
  const long = Array.from({ length: 8751 }, (_, i) => `new-${i % 6000}.com`);
  const noDomains = Array.from({ length: 7000 }, (_, i) => `not a domain ${i}`);
  const withPopular = [...names(5000), ...popular.map((name) => ` ${name.toUpperCase()}`)];
  const six = "6 popular domains would become disposable";
  const anyway = "; if the lists are right, pass --force";
  test.each<[string, unknown, string, string]>([
    ["less than half as long", names(3499), "its list shrinks from 7,000 domains to 3,499, less than half", anyway],
    ["over 1.25 times as long", long, "its list grows from 7,000 domains to 8,751, more than 1.25 times", anyway],
    ["names that are no domains", noDomains, "the table shrinks from 5,000 domains to", anyway],
    ["a table over 1.25 times as long", names(7000), "the table grows from 5,000 domains to 7,", anyway],
    ["six popular domains", withPopular, `${six}, such as bbc.co.uk, mit.edu, chase.com`, anyway],
    ["no array", { domains: [] }, "contains no list of domains", ""],
    ["no JSON", "<html>", "contains no list of domains", ""],
  ])("fail with the reason: %s", (_, content, message, advice) => {
    let refusal: unknown;
    try {
      compile(content);
    } catch (error) {
      refusal = error;
    }
    const text = (refusal as Error).message;
    expect(text.startsWith(`some-list 9.0.0: ${message}`)).toBe(true);
    expect(text.endsWith(`; the data in use is unchanged${advice}`)).toBe(true);
    if (advice === "") return expect(() => compile(content, true)).toThrow(message);
    // Force turns the refusal into a notice.
    const notices = [expect.stringContaining(message)];
    return expect(compile(content, true)).toMatchObject({ notices });
  });

  test("may contain popular domains that the table in use has already", () => {
    const entries = [...names(5000), ...popular].map((domain) => ({ domain, onlyBelow: false }));
    const before = new DisposableTable(compileDisposableTable(entries));
    const options = { force: false, onNotice: () => {} };
    const list = download([...names(5000), ...popular]);
    expect(() => compileDownloads([list], before, options)).not.toThrow();
  });
});

describe("versions", () => {
  test.each([
    ["2.0.1", false],
    ["2.0.2", true],
    ["2.1.0", true],
    ["10.0.0", true],
  ])("%s is newer than 2.0.1: %s", (version, expected) => {
    expect(hasNewer([download([], version)], inUse)).toBe(expected);
  });

  test("count as newer for a list that is not in use", () => {
    expect(hasNewer([{ ...download([]), name: "other-list" }], inUse)).toBe(true);
  });

  test("older than those in use are rejected", () => {
    expect(() => hasNewer([download([], "2.0.0")], inUse)).toThrow(
      "the registry has only some-list 2.0.0, older than 2.0.1 in use; the data in use is unchanged",
    );
  });
});

describe("names below a domain", () => {
  const merged = (lists: RoledList[], isPopular?: (name: string) => boolean) =>
    mergeDisposableLists(lists, isPopular && { isPopular })
      .map(({ domain }) => domain)
      .filter((domain) => /elm|us\.to|google/.test(domain) && domain !== "us.to");
  const list = (...names: string[]): RoledList => ({ role: "list", list: names });

  test.each<[string, RoledList[], string[]]>([
    ["are ordinary in one list", [list("mail.elm.com", "larch.com")], []],
    ["are disposable in two lists", [list("mail.elm.com"), list("mail.elm.com")], ["mail.elm.com"]],
    ["are disposable if the domain is listed", [list("mail.elm.com", "elm.com")], ["mail.elm.com", "elm.com"]],
    ["are disposable in a zone", [list("elm.us.to")], ["elm.us.to"]],
    [
      "are disposable if one list had them on several days",
      [{ ...list("mail.elm.com", "www.elm.com"), again: new Set(["mail.elm.com"]) }],
      ["mail.elm.com"],
    ],
    ["are never disposable below a provider", [list("elm.gmail.com"), list("elm.gmail.com")], []],
  ])("%s", (_, lists, expected) => expect(merged(lists)).toEqual(expected));

  test("are popular if their domain is", () => {
    const lists: RoledList[] = [1, 2].map(() => ({ role: "doubted", list: ["www.google.com", "www.elm.com"] }));
    expect(merged(lists, (name) => name === "google.com")).toEqual(["www.elm.com"]);
  });
});
