/** Runs random bulk runs and compares them with the model of bulk-model.ts. */
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import type { Facts } from "../../src/core/facts/facts.js";
import { type BulkCase, bulkCase, type Side, textOf } from "./bulk-cases.js";
import { type Outcome, predict } from "./bulk-model.js";
import { readQuota, setQuota } from "./quota.js";
import type { idv as Idv } from "./run-here.js";
import { temporaryFolder } from "./temporary-folder.js";

/**
 * Expects the case of a number to do what the model predicts: outputs, order, bytes, statuses, units, counts and exit code.
 *
 * @param idv runs a command line, in this process or in one of its own
 */
export async function expectAsPredicted(idv: typeof Idv, number: number): Promise<void> {
  const tried = bulkCase(number);
  const { outcome, stderr } = await run(idv, tried);
  const lists = tried.lists.map((list) => `${list.name}: ${JSON.stringify(textOf(list))}`);
  const command = `idv ${tried.args.join(" ")}`;
  const name = `case ${number}, limit ${tried.limit}: ${command}\n${lists.join("\n")}\n${stderr}`;
  expect(outcome, name).toEqual(predict(tried));
}

/** Runs a command line on the lists of a case. */
async function run(idv: typeof Idv, { lists, options, limit, args }: BulkCase) {
  const home = temporaryFolder();
  const { side } = options;
  const sidePath = join(home, side?.path ?? "");
  const sideBefore = side && (await contentOf(idv, side));
  if (sideBefore !== undefined) writeFileSync(sidePath, sideBefore);
  for (const list of lists) if (!list.isMissing) writeFileSync(join(home, list.name), textOf(list));
  if (limit !== null) await setQuota(home, { limit });
  const { code, stdout, stderr } = await idv(args, { home });
  const files: Record<string, string> = {};
  for (const path of readdirSync(home, { recursive: true, withFileTypes: true })) {
    const name = join(path.parentPath, path.name).slice(home.length + 1);
    if (path.isFile() && !name.startsWith("state/")) files[name] = readFileSync(join(home, name), "utf8");
  }
  const { [side?.path ?? ""]: sideAfter, ...others } = files;
  const said = side?.option === "--log" ? (sideAfter ?? "").slice(sideBefore?.length ?? 0) : stderr;
  const summaries = said
    .split("\n")
    .filter((line) => line.startsWith("{"))
    .map((line) => JSON.parse(line) as Facts & { readonly type: string })
    .filter(({ type }) => type === "summary" || type === "total")
    .map(predictedIn);
  const { used } = await readQuota(home);
  const outcome: Outcome = {
    code: code!,
    stdout: Buffer.from(stdout, "latin1").toString(),
    files: others,
    summaries,
    used,
    side: side && (sideAfter === sideBefore ? "as before" : "new"),
  };
  return { outcome, stderr };
}

const written = new Map<string, Promise<string>>();

/** Returns what is under the name of a file beside the output before the run. */
async function contentOf(idv: typeof Idv, { option, path, before }: Side): Promise<string | undefined> {
  if (before === "nothing") return undefined;
  if (before === "a table") return "id,email\n1,ann@larch-and-oak.com\n";
  const earlier = written.get(path) ?? writtenBy(idv, option, path);
  written.set(path, earlier);
  return earlier;
}

/** Returns what an earlier run has written for the same purpose. */
async function writtenBy(idv: typeof Idv, option: string, path: string): Promise<string> {
  const home = temporaryFolder();
  const value = { "--report": path, "--log": `json:${path}`, "--bad-rows": `skip:${path}` }[option]!;
  const rows = ["id,email", "1,ann@larch-and-oak.com", "2,bob@larch-and-oak.com", "3,x@mailinator.com,y,z"];
  writeFileSync(join(home, "list.csv"), `${rows.join("\n")}\n`);
  const bad = option === "--bad-rows" ? [] : ["--bad-rows", "skip"];
  await idv(["emails", "list.csv", "-q", option, value, ...bad], { home });
  return readFileSync(join(home, path), "utf8");
}

/** Returns the facts of a list, or of several together, that the model predicts. */
function predictedIn(facts: Facts & { readonly type: string }): Record<string, unknown> {
  const { type, units, statuses, inputs, failed, rows, distinct } = facts;
  const [input] = inputs;
  if (type === "total") return { files: inputs.length + failed, failed, rows, distinct, used: units.used };
  const { written, empty, emptied, kept, badRows } = facts;
  const { name, otherColumns, outvoted, linesLeftOut } = input!;
  const occurred = (counts: Facts["statuses"]) =>
    Object.fromEntries(Object.entries(counts).filter(([, count]) => count > 0));
  return {
    ...{ input: name, rows, written, empty, emptied, kept, distinct, badRows, linesLeftOut },
    used: units.used,
    statuses: occurred(statuses),
    outvoted: outvoted.count,
    otherStatuses: otherColumns.map((column) => occurred(column.statuses)),
  };
}
