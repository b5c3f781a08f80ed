/** Covers how the header of another table is recognised below the first rows. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { profiles } from "../../../src/core/run/items/profiles.js";
import { isOtherHeader, mayBeNames } from "../../../src/core/table/sniff/second-header.js";
import { times } from "../../support/tier.js";

const mayBe = (line: string) => {
  const bytes = Buffer.from(line);
  return mayBeNames(bytes, 0, bytes.length, { delimiter: ",", quote: '"' });
};

test.each([
  ["12,Ann,x", false],
  ["id,2026-11-28,x", false],
  ["id,email,+49 170", false],
  ["id,email,", true],
  ["#,E-Mail,Name", true],
  ["\u7f16\u53f7,\u90ae\u7bb1", true],
  ['"1",email', true],
  ["", true],
])("the bytes of %j may be names: %s", (line, may) => expect(mayBe(line)).toBe(may));

test("the bytes of no header are sure to be none", () => {
  const field = fc.constantFrom(
    ...["id", "email", "E-Mail", "name", "Note 2", "#", "", " ", "12", "a1", "\u00e9", "-", "n\u00b0"],
  );
  const fields = fc.array(field, { minLength: 1, maxLength: 5 });
  const property = fc.property(fields, fields, fc.boolean(), (found, header, isBelow) => {
    const binary = found.map((each) => Buffer.from(each).toString("latin1"));
    if (isOtherHeader(binary, header, profiles.email, 0, isBelow)) expect(mayBe(found.join(","))).toBe(true);
  });
  fc.assert(property, { numRuns: times(5000) });
});
