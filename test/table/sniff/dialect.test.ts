/** Covers the detection of delimiter, line ending and width from a sample. */
import { describe, expect, test } from "vitest";
import { profiles } from "../../../src/core/run/items/profiles.js";
import { usualMarks } from "../../../src/core/table/quotes.js";
import { sniffDelimiter, sniffLineEnding } from "../../../src/core/table/sniff/dialect.js";
import { mostCommonWidth } from "../../../src/core/table/sniff/layout.js";
import { splitterOf } from "../../../src/core/table/sniff/sample.js";

const sampleSplitter = (sample: string, isWhole: boolean, quote = usualMarks.quote) =>
  splitterOf(Buffer.from(sample, "latin1"), isWhole, { ...usualMarks, quote, escape: quote });

describe("records of a sample", () => {
  test.each<[string, string | null, boolean, ...string[][]]>([
    ["a,b\nc,d\n", ",", true, ["a", "b"], ["c", "d"]],
    ["a,b\r\nc,d", ",", true, ["a", "b"], ["c", "d"]],
    ["a,b\rc,d\r", ",", true, ["a", "b"], ["c", "d"]],
    ["a,b\nc,d", ",", false, ["a", "b"]],
    ["a\r", ",", false],
    ['"a,b","c""d"\n"e\nf",g\n', ",", true, ["a,b", 'c"d'], ["e\nf", "g"]],
    ['5" pipe,x\n', ",", true, ['5" pipe', "x"]],
    ['"Lee, Ann" <ann@x.net>\n', null, true, ['"Lee, Ann" <ann@x.net>']],
    ['"a"b,c\n', ",", true, ['"a"b', "c"]],
    ["a,b\n\nc,d\n", ",", true, ["a", "b"], [""], ["c", "d"]],
    ['""\n', ",", true, [""]],
    [",\n", ",", true, ["", ""]],
    ["a,b\n", null, true, ["a,b"]],
    ['a,"never closed\nb,c\n', ",", true, ["a", '"never closed'], ["b", "c"]],
    ["", ",", true],
  ])("come out of %j at %j, whole sample: %s", async (sample, delimiter, isWhole, ...records) => {
    const split = await sampleSplitter(sample, isWhole);
    expect(split(delimiter).records.map(({ fields }) => fields)).toEqual(records);
  });

  test("end after 100", async () => {
    const split = await sampleSplitter("a,b\n".repeat(200), true);
    expect(split(",").records).toHaveLength(100);
  });

  test.each<[string, string | undefined]>([
    ['a,b\n\n"c\nd",e\r\nf,g\n', undefined],
    ["a,b\n\n'c\nd',e\r\nf,g\n", "'"],
  ])("get the right byte and line positions in %j", async (sample, quote) => {
    const split = await sampleSplitter(sample, true, quote);
    const { records } = split(",");
    expect(records.map(({ start }) => start)).toEqual([0, 4, 5, 14]);
    expect(records.map(({ linesBefore }) => linesBefore)).toEqual([0, 1, 2, 4]);
  });
});

describe("the delimiter", () => {
  test.each<[string, string, string | null]>([
    ["comma", "id,email\n1,a@x.net\n2,b@x.net\n", ","],
    ["semicolon", "id;email\n1;a@x.net\n", ";"],
    ["tab", "id\temail\n1\ta@x.net\n", "\t"],
    ["pipe", "id|email\n1|a@x.net\n", "|"],
    ["semicolon with decimal commas", "id;price;email\n1;2,50;a@x.net\n2;3,75;b@x.net\n", ";"],
    ["decimal commas without a header", "1;2,50;a@x.net\n2;3,75;b@x.net\n", ";"],
    ["comma with semicolons in quotes", 'email,note\na@x.net,"x;y;z"\nb@x.net,"x;y;z"\n', ","],
    ["comma, with one wider record", "id,email\n1,a@x.net\n2,b@x.net,x\n", ","],
    ["comma, with shorter records", "id,email,note\n1,a@x.net\n2,b@x.net,x\n3,c@x.net\n", ","],
    ["a plain list", "a@x.net\nb@x.net\n", null],
    ["a plain list with a header", "email\na@x.net\n", null],
    ["dots, colons and spaces", "a.b@x.net\nmailto:c.d@x.net\nE F <e@x.net>\n", null],
    ["names with commas, quoted", '"Lee, A" <a@x.net>\n"Ray, B" <b@x.net>\n', null],
    ["a plain list with one comma", "a@x.net\nb@x.net,\nc@x.net\n", null],
    ["one record, wider than the header", "id,email\n1,a@x.net,x\n", ","],
    ["one record, shorter than the header", "email,id,note\na@x.net\n", ","],
    ["tab before a comma in names", "1\tLee, A <a@x.net>\n2\tRay, B <b@x.net>\n", "\t"],
    ["semicolon before a comma in names", "1;Lee, A <a@x.net>\n2;Ray, B <b@x.net>\n", ";"],
    ["a quote that is never closed in the header", 'id,"email\n1,a@x.net\n', ","],
    ["a header alone", "id,email\n", ","],
    ["an empty sample", "", null],
    ["comma, with a list in each row", "id,email\n1,a@x.net; b@x.net\n2,c@x.net; d@x.net\n", ","],
    ["pipe, with a list in one row", 'id|email|note\n1|"""Lee, A"" <a@x.net>"|x\n2|b@x.net; c@x.net\n', "|"],
    ["comma, with lists of lines", 'id,email,note\n1,"a@x.net;\nb@x.net",x\n2,"c@x.net,\nd@x.net",y\n', ","],
    ["empty lines between records", "id,email\n\n1,a@x.net\n\n", ","],
  ])("follows from the sample: %s", async (_, sample, delimiter) => {
    const split = await sampleSplitter(sample, true);
    expect(sniffDelimiter(split, { profile: profiles.email })).toBe(delimiter);
  });

  test.each<[string, string, string | null]>([
    ["URLs with commas", "http://a.com/1,2\nhttp://b.com/1\nhttp://c.com/3,4\n", null],
    ["URLs and names", "website,name\nhttp://a.com/,A\nhttp://b.com/,B\n", ","],
    ["hosts and ports", "a.com:80\nb.com:443\n", null],
  ])("follows from a sample of domains: %s", async (_, sample, delimiter) => {
    const split = await sampleSplitter(sample, true);
    expect(sniffDelimiter(split, { profile: profiles.domain })).toBe(delimiter);
  });

  test.each<[string[], string, string | null]>([
    [["a"], "id,a,status,canonical\n1,ann@b.net; bob@b.net,ok,ann@b.net\n", ","],
    [["a[2]"], "id,a,a\n1,ann@b.net; bob@b.net,ann@b.net\n", ","],
    [["b"], "id;a,b\n1;ann@b.net,c\n2;bob@b.net,d\n", ","],
    [["id"], "id;a,b\n1;ann@b.net,c\n2;bob@b.net,d\n", ";"],
    [["x"], "id;a\n1;ann@b.net\n", ";"],
    // An index is no name.
    [["2"], "1;ann@b.net,2\n3;bob@b.net,4\n", ";"],
  ])("makes the column %j exist, if possible", async (columns, sample, delimiter) => {
    const split = await sampleSplitter(sample, true);
    expect(sniffDelimiter(split, { profile: profiles.email, columns })).toBe(delimiter);
  });
});

test.each<[string, string | null, string]>([
  ["a,b\nc,d\r\n", ",", "\n"],
  ["a,b\r\nc,d\n", ",", "\r\n"],
  ["a,b\rc,d", ",", "\r"],
  ['"a\nb",c\r\n', ",", "\r\n"],
  ['x,"a""\nb",c\r\n', ",", "\r\n"],
  ['5"\n', ",", "\n"],
  ["a,b", ",", "\n"],
  ['"a\nb"\r', null, "\r"],
])("detects in %j with the delimiter %j the line ending %j", (sample, delimiter, lineEnding) => {
  expect(sniffLineEnding(Buffer.from(sample, "latin1"), delimiter)).toBe(lineEnding);
});

test.each<[number[], number]>([
  [[], 0],
  [[3, 3, 2], 3],
  [[1, 2, 2, 1], 2],
  [[5, 2, 2], 2],
])("picks from the widths %j the most common one, %i", (widths, expected) => {
  expect(mostCommonWidth(widths.map((width) => Array.from({ length: width }, () => "")))).toBe(expected);
});
