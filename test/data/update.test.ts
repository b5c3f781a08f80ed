/** Covers which downloaded lists may replace the data in use. */
import { describe, expect, test } from "vitest";
import { compileDisposableTable, DisposableTable } from "../../src/classifier/disposable-table.js";
import { compileDownloads, type Download, hasNewer } from "../../src/data/update.js";

const source = {
  name: "some-list",
  version: "2.0.1",
  published: "2026-04-13",
  licence: "MIT",
  domains: 7000,
};
const inUse = new DisposableTable(
  compileDisposableTable(
    Array.from({ length: 5000 }, (_, i) => ({ domain: `throwaway-${i}.com`, onlyBelow: false })),
    [source],
  ),
);
const { domains: _, ...facts } = source;
const download = (content: unknown, version = "9.0.0"): Download => ({
  ...facts,
  version,
  integrity: "",
  role: "list",
  bytes: Buffer.from(typeof content === "string" ? content : JSON.stringify(content)),
});
const names = (count: number) => Array.from({ length: count }, (_, i) => `new-${i}.com`);

describe("downloaded lists", () => {
  test("are compiled, with their sources", () => {
    const table = new DisposableTable(compileDownloads([download(names(6000))], inUse));
    expect(table.find("a.new-5999.com")).toBe("new-5999.com");
    expect(table.sources).toEqual([{ ...source, version: "9.0.0", domains: 6000, role: "list" }]);
  });

  test("may be half as long as those in use", () => {
    expect(() => compileDownloads([download(names(3500))], inUse)).not.toThrow();
  });

  test.each<[string, unknown, string]>([
    [
      "less than half as long",
      names(3499),
      "its list has shrunk from 7,000 domains to 3,499, less than half",
    ],
    [
      "names that are no domains",
      Array.from({ length: 7000 }, (_, i) => `not a domain ${i}`),
      "would shrink",
    ],
    ["no array", { domains: [] }, "contains no list of domains"],
    ["no JSON", "<html>", "contains no list of domains"],
  ])("are refused: %s", (_, content, message) => {
    const compile = () => compileDownloads([download(content)], inUse);
    expect(compile).toThrow(message);
    expect(compile).toThrow(/^some-list 9\.0\.0: .*; the data in use is unchanged$/);
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

  test("of a list that is not in use are newer", () => {
    expect(hasNewer([{ ...download([]), name: "other-list" }], inUse)).toBe(true);
  });

  test("may not be older", () => {
    expect(() => hasNewer([download([], "2.0.0")], inUse)).toThrow(
      "the registry has only some-list 2.0.0, older than 2.0.1 in use; the data in use is unchanged",
    );
  });
});
