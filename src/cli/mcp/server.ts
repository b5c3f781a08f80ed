// The server of `idv mcp`. Each tool runs a command of idv in its own process: rules, quota and messages are those of
// the command line, and a file that is too large ends only that process.
import { once } from "node:events";
import { existsSync } from "node:fs";
import { realpath } from "node:fs/promises";
import { isAbsolute, join, relative, resolve } from "node:path";
import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import { CallToolRequestSchema, ListToolsRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import { endOf, startProgram } from "../../child-program.js";
import { forPages } from "../../core/facts/facts.js";
import { nameWith } from "../../files/ending.js";
import { readFormats } from "../../text.js";
import { ownProgram } from "../engines/own-program.js";
import { version } from "../version.js";

type McpOptions = { readonly folder: string; readonly isOnline: boolean };

type Arguments = Readonly<Record<string, unknown>>;

interface Tool {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: { readonly type: "object"; readonly [other: string]: unknown };
  readonly annotations: { readonly readOnlyHint: boolean; readonly openWorldHint?: boolean };
  readonly call: (given: Arguments) => Promise<string>;
}

class ToolFault extends Error {}

/** Limit of one call: an answer should fit what an assistant reads. */
const mostItems = 500;
const mostText = 100_000;
/** In milliseconds; then a command is ended. */
const patience = 600_000;

export async function serveMcp(options: McpOptions): Promise<void> {
  const tools = toolsOf(options);
  const server = new Server({ name: "idv", version: version() }, { capabilities: { tools: {} } });
  server.setRequestHandler(ListToolsRequestSchema, () => ({ tools: tools.map(({ call: _, ...tool }) => tool) }));
  server.setRequestHandler(CallToolRequestSchema, async ({ params }) => {
    const tool = tools.find(({ name }) => name === params.name);
    const answer = (text: string, isError = false) => {
      return { content: [{ type: "text" as const, text: text.slice(0, mostText) }], isError };
    };
    if (tool === undefined) return answer(`no tool ${params.name}`, true);
    const answered = tool.call(params.arguments ?? {}).then(answer, (error: Error) => answer(error.message, true));
    calls.add(answered);
    return answered.finally(() => calls.delete(answered));
  });
  const ended = once(process.stdin, "end");
  const calls = new Set<Promise<unknown>>();
  await server.connect(new StdioServerTransport());
  await ended;
  await Promise.all(calls);
  // What was answered last is written in the next turn.
  await new Promise(setImmediate);
  await server.close();
}

function toolsOf({ folder, isOnline }: McpOptions): readonly Tool[] {
  const texts = { type: "array", items: { type: "string", maxLength: 1000 }, minItems: 1, maxItems: mostItems };
  const items = { ...texts, description: "E-mail addresses or domains." };
  const item = { type: "string", maxLength: 1000, description: "An e-mail address or a domain." };
  let lastFile: Promise<unknown> = Promise.resolve();
  const readOnly = { readOnlyHint: true, openWorldHint: false };
  return [
    {
      name: "check",
      description:
        "Tells for e-mail addresses or domains whether they are ok, alias, disposable or fake, with reason and suggestion. Free of charge, offline.",
      inputSchema: { type: "object", properties: { items }, required: ["items"] },
      annotations: readOnly,
      call: async (given) => (await run(folder, ["check", "--json", "-"], itemsIn(given))).stdout,
    },
    {
      name: "explain",
      description:
        "Tells why an e-mail address or a domain has its verdict: the rule and its source, the lists that have the domain, and who takes corrections.",
      inputSchema: { type: "object", properties: { item }, required: ["item"] },
      annotations: readOnly,
      call: async (given) =>
        (await run(folder, ["check", "--why", "--json", "-"], itemsIn({ items: [given["item"]] }))).stdout,
    },
    {
      name: "check_file",
      description: `Checks every row of a table in the folder (${readFormats}) and writes a copy with a status column beside it. Returns the counts. Costs a unit of the quota for each distinct item.`,
      inputSchema: {
        type: "object",
        properties: {
          path: { type: "string", description: "The file, relative to the folder." },
          kind: { type: "string", enum: ["emails", "domains"], default: "emails", description: "Kind of its items." },
          column: { type: "string", description: "Name or number of the column; found by default." },
          onlyGood: { type: "boolean", default: false, description: "Writes only rows that are ok or alias." },
          fix: {
            type: "boolean",
            default: false,
            description: "Corrects typos of large providers; ignored with --online.",
          },
          overwrite: { type: "boolean", default: false, description: "Replaces an older output." },
        },
        required: ["path"],
      },
      annotations: { readOnlyHint: false, openWorldHint: isOnline },
      // One after the other: two calls for a file would not see each other's output.
      call: (given) => {
        const call = () => checkFile(given, folder, isOnline);
        const written = lastFile.then(call, call);
        lastFile = written;
        return written;
      },
    },
    {
      name: "quota",
      description: "Tells how many units of the offline quota are used and left, and when it renews.",
      inputSchema: { type: "object", properties: {} },
      annotations: readOnly,
      call: async () => (await run(folder, ["quota", "show", "--json"], "")).stdout,
    },
  ];
}

function itemsIn({ items }: Arguments): string {
  const isList = Array.isArray(items) && items.length > 0 && items.length <= mostItems;
  if (!isList || !items.every((item) => typeof item === "string" && item.length <= 1000))
    throw new ToolFault(`items must be 1 to ${mostItems} texts`);
  return `${items.map((item) => String(item).replace(/[\r\n]+/g, " ")).join("\n")}\n`;
}

async function checkFile(given: Arguments, folder: string, isOnline: boolean): Promise<string> {
  const { kind = "emails", column, onlyGood, fix, overwrite } = given;
  if (kind !== "emails" && kind !== "domains") throw new ToolFault("kind must be emails or domains");
  const input = await inFolder(folder, given["path"]);
  const output = nameWith(input, onlyGood === true ? "good" : "checked");
  if (existsSync(join(folder, output)) && overwrite !== true)
    throw new ToolFault(`${output} is there already; pass overwrite, or remove it`);
  const words = [
    ...[kind, "--log", "json", "-o", `./${output}`, "--explain"],
    ...(isOnline ? [] : ["--offline"]),
    ...(column === undefined ? [] : ["-c", String(column)]),
    ...(onlyGood === true ? ["--only", kind === "emails" ? "ok,alias" : "ok"] : []),
    ...(fix === true && !isOnline ? ["--fix"] : []),
    `./${input}`,
  ];
  const { facts } = await run(folder, words, "");
  if (facts === undefined) throw new ToolFault("the check was stopped");
  const shown = forPages(facts, (name) => name);
  // An assistant needs no list of thousands of columns.
  const inputs = shown.inputs.map(({ columns: _, ...input }) => input);
  return JSON.stringify({ ...shown, inputs });
}

/** Relative to the folder. @throws ToolFault when the file is outside, by a link, too, or there is none */
async function inFolder(folder: string, path: unknown): Promise<string> {
  if (typeof path !== "string" || path === "" || path.includes("\0")) throw new ToolFault("path must be a text");
  const root = await realpath(folder);
  const real = await realpath(resolve(root, path)).catch(() => {
    throw new ToolFault(`${path}: no such file in the folder`);
  });
  const inside = relative(root, real);
  if (inside === "" || inside.startsWith("..") || isAbsolute(inside))
    throw new ToolFault(`${path}: is outside the folder of idv mcp`);
  return inside;
}

/** @throws ToolFault with the message of the command when it fails; a used-up quota is not a failure */
async function run(folder: string, words: readonly string[], input: string) {
  const child = startProgram(ownProgram(), words, { cwd: folder, timeout: patience });
  let stdout = "";
  child.stdout!.setEncoding("utf8").on("data", (text: string) => {
    stdout += text;
  });
  child.stdin!.on("error", () => {});
  child.stdin!.end(input);
  const { exitCode, facts, fault } = await endOf(child);
  // 4: the quota is used up, which the answer tells.
  if (exitCode !== 0 && exitCode !== 4) throw new ToolFault(fault?.message ?? "the check was stopped");
  return { stdout, facts };
}
