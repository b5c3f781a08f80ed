/** Covers that the OpenAPI document explains what clients are generated from. */
import { expect, test } from "vitest";
import { statusWords } from "../../src/core/validator/statuses.js";
import { knownStatuses } from "../../src/core/validator/validator.js";
import { openApiDocument } from "../support/openapi.js";

/** Returns the paths of the properties and parameters without a description. */
function unexplained(value: unknown, path = ""): string[] {
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([name, child]: [string, unknown]) => {
    const inside = unexplained(child, `${path}/${name}`);
    const named = name === "properties" || name === "parameters" ? Object.entries(child as object) : [];
    const bare = named.filter(([, { description }]: [string, { description?: string }]) => !description);
    return [...bare.map(([property]) => `${path}/${name}/${property}`), ...inside];
  });
}

test("every property and parameter has a description", async () => {
  expect(unexplained(await openApiDocument())).toEqual([]);
  expect(unexplained({ properties: { status: { type: "string" } } })).toEqual(["/properties/status"]);
});

test("the statuses of items are explained with the words of their records", async () => {
  const text = JSON.stringify(await openApiDocument());
  for (const status of knownStatuses)
    expect(text).toContain(JSON.stringify(`\`${status}\`: ${statusWords[status].meaning}`).slice(1, -1));
});
