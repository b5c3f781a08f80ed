/** Covers what is read as a JSON body, and what is not even parsed. */
import { expect, test } from "vitest";
import { parseBody } from "../../src/service/plugins/json-body.js";

const padding = "x".repeat(70_000);
const nested = (levels: number) => `${"[".repeat(levels)}${"]".repeat(levels)}`;

test.each<[string, string | Buffer, unknown]>([
  ["a small body", '{"emails":["a@b.net"]}', { emails: ["a@b.net"] }],
  ["a large body", `{"a":"${padding}"}`, { a: padding }],
  ["brackets in strings", `["${"[{".repeat(40_000)}\\"[["]`, [`${"[{".repeat(40_000)}"[[`]],
  ["many arrays side by side", `[${"[],".repeat(30_000)}1]`, [...Array(30_000).fill([]), 1]],
  ["nested arrays", `[${nested(63)},"${padding}"]`, [JSON.parse(nested(63)), padding]],
  ["too deeply nested arrays", `[${nested(64)},"${padding}"]`, undefined],
  ["an end that is missing", `["${padding}\\`, undefined],
  ["an array that never ends", "[".repeat(1_000_000), undefined],
  ["other bytes", Buffer.of(0x22, 0xff, 0x22), undefined],
  ["nothing", "", undefined],
])("parses or rejects the body: %s", (_, body, value) => {
  expect(parseBody(Buffer.from(body as string))).toEqual(value);
});
