/** Covers the names of the added columns, and which columns of a table an earlier run has added. */
import { expect, test } from "vitest";
import { nameColumns } from "../../src/run/columns.js";

test.each<[string, string, string, readonly (number | undefined)[]]>([
  ["without an earlier run", "id,email", "status,reason,suggestion,canonical", []],
  [
    "after one",
    "email,status,reason,suggestion,canonical",
    "status,reason,suggestion,canonical",
    [1, 2, 3, 4],
  ],
  [
    "after one with an exchange",
    "email,status,reason,suggestion,mx,canonical",
    "status,reason,suggestion,canonical",
    [1, 2, 3, 5],
  ],
  [
    "after one without reasons",
    "email,status,canonical",
    "status,reason,suggestion,canonical",
    [1, undefined, undefined, 2],
  ],
  [
    "where the user has reasons",
    "email,reason,status,idv_reason,suggestion",
    "status,idv_reason,suggestion,canonical",
    [2, 3, 4],
  ],
  ["where only the user has reasons", "email,reason,status", "status,idv_reason,suggestion,canonical", [2]],
  ["where others follow", "email,status,note,reason", "status,idv_reason,suggestion,canonical", [1]],
  [
    "where even the names of idv are taken",
    "reason,idv_reason,email,status,idv_reason_2,suggestion",
    "status,idv_reason_2,suggestion,canonical",
    [3, 4, 5],
  ],
])("names columns %s", (_, header, names, places) => {
  const columns = nameColumns(header.split(","), "status", {
    ...{ withReasons: true, withCanonical: true },
    isOurs: () => true,
  });
  expect(columns.names.join()).toBe(names);
  expect(columns.places).toEqual(Array.from({ length: 4 }, (_, i) => places[i]));
});
