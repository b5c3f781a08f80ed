/** Covers rows that come one by one: they are answered while the input is open. */
import { once } from "node:events";
import { describe, expect, test } from "vitest";
import { useService } from "../../support/api-runs.js";
import { finished, startIdv } from "../../support/run-idv.js";
import { createKey } from "../../support/service.js";

const { serviceHome, service } = useService();

/** Starts a run, sends blocks of lines, and waits for the answer to each before it sends the next one. */
async function converse(args: readonly string[], blocks: readonly string[][], env = {}) {
  const child = startIdv(["emails", ...args, "-q"], { env });
  const ended = finished(child);
  let output = "";
  const answers: string[] = [];
  for (const block of blocks) {
    child.stdin!.write(block.map((line) => `${line}\n`).join(""));
    const wanted = output.split("\n").length - 1 + block.length;
    const before = output.length;
    while (output.split("\n").length - 1 < wanted) {
      const [part] = (await once(child.stdout!, "data")) as [Buffer];
      output += part.toString();
    }
    answers.push(output.slice(before));
  }
  child.stdin!.end();
  const { code, stderr } = await ended;
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  return answers;
}

describe("rows of an open input are answered", () => {
  test.each<[string, string[], string[][], string[]]>([
    [
      "in a plain list",
      ["-n", "-d", "none", "--set", "header=never"],
      [["ann@larch-and-oak.com"], ["x@mailinator.com", "", "ann@larch-and-oak.com"]],
      ["ann@larch-and-oak.com,ok\n", "x@mailinator.com,disposable\n\nann@larch-and-oak.com,ok\n"],
    ],
    [
      // What ClickHouse's executable_pool does with TabSeparated: a block, its answer, and the next block.
      "between tabs without quotes",
      ["-n", "-d", "tab", "--quote", "none", "-c", "1", "--set", "header=never"],
      [["a@larch-and-oak.com\t1", "b@mailinator.com\t2"], ["c@larch-and-oak.com\t3"]],
      ["a@larch-and-oak.com\t1\tok\nb@mailinator.com\t2\tdisposable\n", "c@larch-and-oak.com\t3\tok\n"],
    ],
    [
      "in JSON Lines",
      ["-c", "email"],
      [['{"email":"a@larch-and-oak.com"}'], ['{"email":"b@mailinator.com"}']],
      ['{"email":"a@larch-and-oak.com","status":"ok"}\n', '{"email":"b@mailinator.com","status":"disposable"}\n'],
    ],
    [
      "in a table with a header, which is opened when it pauses after a record",
      ["-c", "email"],
      [
        ["id;email", "1;a@larch-and-oak.com"],
        ["2;b@mailinator.com", '3;"c@larch-and-oak.com"'],
      ],
      ["id;email;status\n1;a@larch-and-oak.com;ok\n", '2;b@mailinator.com;disposable\n3;"c@larch-and-oak.com";ok\n'],
    ],
    [
      "in a list that starts with a single address",
      [],
      [["a@larch-and-oak.com"], ["b@mailinator.com"]],
      ["a@larch-and-oak.com,ok\n", "b@mailinator.com,disposable\n"],
    ],
  ])("%s", async (_, args, blocks, expected) => {
    const answers = await converse([...args, "--offline"], blocks);
    expect(answers).toEqual(expected);
  });
});

test("rows of an open input are answered by a service", async () => {
  const env = { IDV_API_KEY: await createKey(serviceHome), IDV_BASE_URL: service.url };
  const blocks = [["ann@larch-and-oak.com"], ["x@mailinator.com"]];
  const answers = await converse(["-n", "-d", "none", "--set", "header=never"], blocks, env);
  expect(answers).toEqual(["ann@larch-and-oak.com,ok\n", "x@mailinator.com,disposable\n"]);
});
