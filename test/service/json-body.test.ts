/** Covers what is read as a JSON body, and what is not even parsed. */
import { expect, test } from "vitest";
import { parseBody } from "../../src/server/service/plugins/json-body.js";

const padding = "x".repeat(70_000);
const nested = (levels: number) => `${"[".repeat(levels)}${"]".repeat(levels)}`;

test.each<[string, string | Buffer, unknown]>([
  ["a small body", '{"emails":["a@b.net"]}', { emails: ["a@b.net"] }],
  ["a large body", `{"a":"${padding}"}`, { a: padding }],
  ["brackets in strings", `["${"[{,".repeat(40_000)}\\"[["]`, [`${"[{,".repeat(40_000)}"[[`]],
  ["a hundred arrays", `[${nested(99)},"${padding}"]`, [JSON.parse(nested(99)), padding]],
  ["an end that is missing", `["${padding}\\`, undefined],
  ["other bytes", Buffer.of(0x22, 0xff, 0x22), undefined],
  ["nothing", "", undefined],
])("parses or rejects the body: %s", (_, body, value) => {
  expect(parseBody(Buffer.from(body as string), 1000)).toEqual(value);
});

test.each<[string, string, number]>([
  ["nested arrays", `[${nested(100)},"${padding}"]`, 400],
  ["arrays side by side", `[${"[],".repeat(30_000)}1]`, 400],
  ["objects side by side", `[${"{},".repeat(30_000)}1]`, 400],
  ["an array that never ends", "[".repeat(1_000_000), 400],
  ["items", `["${padding}"${',""'.repeat(2001)}]`, 413],
  ["members", `{"a":"${padding}"${Array.from({ length: 2001 }, (_, i) => `,"b${i}":1`).join("")}}`, 413],
])("refuses a body with too many values before it is parsed: %s", (_, body, statusCode) => {
  expect(() => parseBody(Buffer.from(body), 1000)).toThrow(expect.objectContaining({ statusCode }));
});
