/** Covers the list of shared texts: any texts come back by their index, across blocks. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { TextList } from "../../../src/formats/xlsx/text-list.js";

function listOf(texts: readonly string[]): TextList {
  const list = new TextList();
  for (const text of texts) list.add(text);
  return list;
}

test("texts come back by their index", () => {
  fc.assert(
    fc.property(fc.array(fc.string({ unit: "grapheme" })), (texts) => {
      const list = listOf(texts);
      expect(texts.map((_, index) => list.at(index))).toEqual(texts);
      for (const index of [texts.length, 5000, -1, 0.5, Number.NaN]) expect(list.at(index)).toBeUndefined();
    }),
  );
});

test("texts come back when they fill several blocks, and more places than a list starts with", () => {
  const long = ["a", "é", "漢"].map((letter) => letter.repeat(2 ** 20));
  const texts = [...long, ...long, "", ...long, ...Array.from({ length: 5000 }, (_, i) => `text ${i}`)];
  const list = listOf(texts);
  expect(texts.every((text, index) => list.at(index) === text)).toBe(true);
});
