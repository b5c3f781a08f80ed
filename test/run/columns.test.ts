/** Covers the names of the added columns, and which columns of a table an earlier run has added. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { nameColumns } from "../../src/core/run/rows/columns.js";
import { times } from "../support/tier.js";

const all = "status,reason,suggestion,canonical";
const renamed = "status,idv_reason,suggestion,canonical";
const taken = "reason,idv_reason,email,status,idv_reason_2,suggestion";
test.each<[string, string, string, readonly (number | undefined)[]]>([
  ["without an earlier run", "id,email", all, []],
  ["after one", `email,${all}`, all, [1, 2, 3, 4]],
  ["after one with an exchange", "email,status,reason,suggestion,mx,canonical", all, [1, 2, 3, 5]],
  ["after one without reasons", "email,status,canonical", all, [1, undefined, undefined, 2]],
  ["where the user has reasons", "email,reason,status,idv_reason,suggestion", renamed, [2, 3, 4]],
  ["where only the user has reasons", "email,reason,status", renamed, [2]],
  ["where others follow", "email,status,note,reason", renamed, [1]],
  ["where even the names of idv are taken", taken, "status,idv_reason_2,suggestion,canonical", [3, 4, 5]],
])("names the added columns %s", (_, header, names, indices) => {
  const wanted = { withReasons: true, added: ["canonical"], isOurs: () => true };
  const columns = nameColumns(header.split(","), "status", wanted);
  expect(columns.names.join()).toBe(names);
  expect(columns.indices).toEqual(Array.from({ length: 4 }, (_, i) => indices[i]));
});

test("finds the columns that an earlier run has added to any table", () => {
  const name = fc.constantFrom(
    ...["email", "b", "status", "reason", "suggestion", "canonical", "mx"],
    ...["idv_reason", "note", "status_b", "canonical_b"],
  );
  fc.assert(
    fc.property(
      fc.uniqueArray(name, { maxLength: 9 }),
      fc.record({ withReasons: fc.boolean(), withExchange: fc.boolean(), added: fc.subarray(["canonical"]) }),
      fc.boolean(),
      (header, choice, isSeveral) => {
        const options = { ...choice, isOurs: () => true, others: isSeveral ? ["b"] : [] };
        const first = nameColumns(header, "status", options);
        const added = first.names.filter((_, i) => first.indices[i] === undefined);
        const second = nameColumns([...header, ...added], "status", options);
        expect(second.names).toEqual(first.names);
        expect(second.indices).not.toContain(undefined);
      },
    ),
    { numRuns: times(2000) },
  );
});
