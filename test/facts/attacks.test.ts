/** Covers what looks like an attack: addresses of one pattern that come together, and not those of people. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { PatternCounts, Places, patternOf, patterns } from "../../src/core/facts/attacks.js";

const [dots, random] = [0, 1];

test.each<[string, boolean, number]>([
  ["s.a.n.d.rako@gmail.com", true, dots],
  ["s.a.n.d.rako+news@gmail.com", true, dots],
  // The dots count at other providers.
  ["s.a.n.d.rako@gmx.de", false, -1],
  ["maria.de.la.cruz@gmail.com", true, -1],
  ["x4k9q2w7@larch-and-oak.com", false, random],
  ["7c9e6679f742@larch-and-oak.com", false, random],
  ["qwrtzxpbk@larch-and-oak.com", false, random],
  ["pm70rnqt8f@larch-and-oak.com", false, random],
  ["kfoxmwqjet@larch-and-oak.com", false, random],
  ["ann.lee1987@gmail.com", true, -1],
  ["2pac4ever@gmail.com", true, -1],
  ["no address", false, -1],
  // In one expression, minutes for a quarter of it.
  [`${`${"a".repeat(1000)}${"1".repeat(1000)}`.repeat(4)}=@larch-and-oak.com`, false, -1],
])("%.40s (dots are free: %s) has pattern %i", (item, hasFreeDots, pattern) => {
  expect(patternOf(item, () => hasFreeDots)).toBe(pattern);
});

const firstNames =
  "anna friedrich grzegorz krzysztof ngoc xiulan sebastian lj d4n mike76 sven nguyen joerg bjorn zdzislaw".split(" ");
const lastNames =
  "schwartz schmidt brzezinski szczepanski vandersloot wright lynch mcknight hirschfeld 1984 2001 strzelczyk goldschmidt o7".split(
    " ",
  );

test.each(firstNames)("%s with any last name, with or without a mark between, is no pattern", (first) => {
  const names = lastNames.flatMap((last) => ["", ".", "_", "-"].map((mark) => `${first}${mark}${last}`));
  expect(names.filter((name) => patternOf(`${name}@larch-and-oak.com`, () => true) !== -1)).toEqual([]);
});

describe("rows of one pattern", () => {
  const place = fc.record({ month: fc.integer({ min: 1, max: 9 }), source: fc.constantFrom("web", "fair") });
  const quiet = fc.array(fc.tuple(place, fc.integer({ min: 40, max: 900 })), { minLength: 3, maxLength: 30 });
  const addTo = (places: Places, month: number, value: string, all: number, rows: number) =>
    places.add({ month: `2026-0${month}`, source: { column: "source", value } }, all, [rows, 0]);

  test("are an attack where they come together, whichever files they are in", () => {
    const asked = fc.property(quiet, fc.integer({ min: 60, max: 400 }), fc.boolean(), (rows, size, isSeveral) => {
      const all = new Places();
      const files = isSeveral ? rows.map(() => new Places()) : [all];
      for (const [i, [{ month, source }, count]] of rows.entries()) {
        addTo(files[i % files.length]!, month, source, count, Math.floor(count / 100));
      }
      addTo(files[0]!, 1, "planted", size, size / 2);
      addTo(files.at(-1)!, 1, "PLANTED", size, size / 2);
      if (isSeveral) for (const file of files) all.addAll(file);
      const source = { column: "source", value: isSeveral ? expect.stringMatching(/^planted$/i) : "planted" };
      expect(all.attacks()).toEqual([{ month: "2026-01", source, pattern: patterns[dots], rows: size, all: 2 * size }]);
    });
    fc.assert(asked);
  });

  test("are none where they are few, spread over the list, or all of it", () => {
    const few = new Places();
    addTo(few, 1, "web", 1000, 0);
    addTo(few, 2, "web", 30, 19);
    expect(few.attacks()).toEqual([]);
    const spread = new Places();
    for (let month = 1; month <= 9; month++) addTo(spread, month, "web", 100, 50);
    expect(spread.attacks()).toEqual([]);
    const whole = new Places();
    addTo(whole, 1, "web", 100, 90);
    expect(whole.attacks()).toEqual([]);
  });

  test("of a long list are estimated from every 32nd of the later rows", () => {
    const counts = new PatternCounts();
    let asked = 0;
    for (let row = 0; row < 260_000; row++) {
      const weight = counts.weigh();
      if (weight === 0) continue;
      asked++;
      counts.add(weight, Number(row >= 180_000), -1, row >= 180_000 && row % 5 < 2 ? random : -1);
    }
    expect(asked).toBe(50_000 + 6562);
    const places = new Places();
    counts.addTo(places, ["2026-01", "2026-02"], undefined);
    const [attack, ...others] = places.attacks();
    expect([attack?.month, attack?.all, others]).toEqual(["2026-02", 80_000, []]);
    expect(Math.abs(attack!.rows - 32_000)).toBeLessThan(1000);
  });
});
