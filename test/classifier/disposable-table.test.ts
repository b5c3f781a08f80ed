/** Covers the compiled table of disposable domains and the merging of the lists it is built from. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { compileDisposableTable, DisposableTable, ownBit } from "../../src/core/classifier/tables/disposable-table.js";
import { mergeDisposableLists, namesIn } from "../../src/engines/data/sources.js";
import { zones } from "../../src/engines/data/zones.js";

const entry = (domain: string, onlyBelow = false) => ({ domain, onlyBelow });
/** Merges lists, and returns the entries that are not of zones that idv itself lists. */
const mergedFrom = (...args: Parameters<typeof mergeDisposableLists>) =>
  mergeDisposableLists(...args).filter(({ domain }) => !zones.includes(domain));
const namesFrom = (...args: Parameters<typeof mergeDisposableLists>) =>
  mergedFrom(...args)
    .map(({ domain }) => domain)
    .sort();
const tableOf = (...entries: ReturnType<typeof entry>[]) => new DisposableTable(compileDisposableTable(entries));

describe("the disposable table", () => {
  test.each([
    ["mailinator.com", "mailinator.com"],
    ["a.b.mailinator.com", "mailinator.com"],
    ["notmailinator.com", undefined],
    ["mailinator.com.au", undefined],
    ["com", undefined],
    ["", undefined],
    ["eu.cc", undefined],
    ["x.eu.cc", "eu.cc"],
    ["a.x.eu.cc", "eu.cc"],
  ])("finds for %j the entry %s", (ascii, expected) => {
    expect(tableOf(entry("mailinator.com"), entry("eu.cc", true)).find(ascii)).toBe(expected);
  });

  test("finds nothing if it is empty", () => expect(tableOf().find("mailinator.com")).toBeUndefined());

  test("compiles to the same bytes for the same entries in any order", () => {
    const entries = Array.from({ length: 1000 }, (_, i) => entry(`domain-${i}.net`));
    expect(compileDisposableTable([...entries].reverse())).toEqual(compileDisposableTable(entries));
  });

  test("rejects duplicate entries", () => {
    expect(() => compileDisposableTable([entry("a.com"), entry("a.com")])).toThrow("a.com");
  });

  test.each([
    ["empty bytes", new Uint8Array()],
    ["other bytes", new Uint8Array(4096).fill(7)],
    ["a truncated table", compileDisposableTable([entry("a.com")]).subarray(0, 100)],
  ])("rejects %s", (_, bytes) => expect(() => new DisposableTable(bytes)).toThrow("not a table"));

  test("reads bytes at any offset in memory", () => {
    const file = compileDisposableTable([entry("a.com")]);
    const shifted = new Uint8Array(file.length + 1);
    shifted.set(file, 1);
    expect(new DisposableTable(shifted.subarray(1)).find("a.com")).toBe("a.com");
  });

  test("agrees with a Set on every suffix", () => {
    const label = fc.string({ unit: fc.constantFrom(..."abc0-"), minLength: 1, maxLength: 3 });
    const name = fc.array(label, { minLength: 1, maxLength: 4 }).map((labels) => labels.join("."));
    fc.assert(
      fc.property(fc.uniqueArray(name, { maxLength: 40 }), fc.array(name, { maxLength: 40 }), (listed, asked) => {
        const table = tableOf(...listed.map((domain) => entry(domain)));
        const set = new Set(listed);
        for (const ascii of [...asked, ...listed]) {
          const suffixes = ascii.split(".").map((_, i, labels) => labels.slice(i).join("."));
          expect(table.find(ascii)).toBe(suffixes.find((suffix) => set.has(suffix)));
        }
      }),
    );
  });
});

describe("merging lists", () => {
  test("converts to ASCII, drops duplicates, providers and public suffixes, and lists private zones only for the names below them", () => {
    const lists = [
      ["mailinator.com", "gmail.com", "duck.com", "edu.pl", "eu.org", "blogspot.com", "mooo.com"],
      ["MAILINATOR.com", "tś.xyz", "not a domain", "craigslist.org", "trashmail.com", "x.unknowntld"],
    ].map((list) => ({ role: "list" as const, list }));
    expect(mergedFrom(lists)).toEqual([
      { ...entry("mailinator.com"), lists: 3 },
      { ...entry("blogspot.com", true), lists: 1 },
      { ...entry("xn--t-tma.xyz"), lists: 2 },
      { ...entry("trashmail.com"), lists: 2 },
    ]);
    expect(mergeDisposableLists(lists)).toContainEqual({ ...entry("mooo.com", true), lists: ownBit | 1 });
  });

  test("leaves out popular domains that no curated list has", () => {
    const found = namesFrom(
      [
        { role: "list", list: ["popular-1.com"] },
        { role: "doubted", list: ["popular-1.com", "popular-2.com", "other.com"] },
        { role: "aged", list: ["popular-3.com"] },
      ],
      { isPopular: (domain) => domain.startsWith("popular-") },
    );
    expect(found).toEqual(["other.com", "popular-1.com"]);
  });

  test("decides by the roles of the lists which names are disposable", () => {
    const found = namesFrom([
      { role: "list", list: ["listed.com"] },
      { role: "doubted", list: ["believed.com", "doubted.com", "doubted-too.com"] },
      { role: "doubt", list: ["doubted.com", "stale.com"] },
      { role: "witness", list: ["doubted-too.com", "confirmed.com", "listed.com"] },
      { role: "aged", list: ["fresh.com", "stale.com", "confirmed.com"] },
      { role: "old", list: ["stale.com", "confirmed.com", "older.com"] },
    ]);
    expect(found).toEqual(["believed.com", "confirmed.com", "fresh.com", "listed.com"]);
  });

  test.each(["doubt", "witness", "old"])(
    "keeps the names of the table before, and adds no doubtful ones, if the list of role %s is missing",
    (missing) => {
      const lists = [
        { role: "list" as const, list: ["listed.com", "new-listed.com"] },
        { role: "doubted" as const, list: ["believed.com", "doubted.com", "doubted-too.com", "new-1.com"] },
        { role: "doubt" as const, list: ["doubted.com", "new-1.com"] },
        { role: "witness" as const, list: ["doubted-too.com", "confirmed.com", "new-1.com"] },
        { role: "aged" as const, list: ["fresh.com", "stale.com", "confirmed.com", "new-2.com", "mooo.com"] },
        { role: "old" as const, list: ["stale.com", "confirmed.com", "new-2.com"] },
      ];
      const stays = ["believed.com", "confirmed.com", "fresh.com", "listed.com"];
      const before = tableOf(...stays.map((name) => entry(name)));
      const there = lists.filter(({ role }) => role !== missing);
      expect(namesFrom(there, { before })).toEqual([...stays, "new-listed.com"]);
    },
  );

  test.each<[string, readonly string[] | undefined]>([
    ['["a.com","b.com"]', ["a.com", "b.com"]],
    ['{"domains":["a.com"]}', ["a.com"]],
    ['{"version":1,"domains":{"a.com":{"provider":"x"}}}', ["a.com"]],
    ['const list = new Set(["a.com","b.com"]);', ["a.com", "b.com"]],
    ["a.com\nb.com\n", ["a.com", "b.com"]],
    ["# names\r\na.com # new\r\n\r\nmüller.de\r\n", ["a.com", "müller.de"]],
    ["\0a\0.\0c\0o\0m\n", undefined],
    ["<html>", undefined],
    ["Log in at\na.com\n", undefined],
    ['{"domains":[]}', undefined],
    ["[1,2]", undefined],
  ])("reads the names, if any, in %j", (text, names) => expect(namesIn(text)).toEqual(names));
});
