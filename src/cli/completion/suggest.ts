/** Suggests words to complete a command line, from the definitions of commands and options. */
import { createReadStream } from "node:fs";
import type { Command, Option } from "commander";
import { profiles } from "../../core/run/items/profiles.js";
import { found } from "../../files/found.js";
import { decodeInput } from "../../formats/encodings/decoding.js";
import { openTable } from "../../formats/text-formats.js";
import { topicNames } from "../help/topic-names.js";
import { isJoined, wordsFor } from "../options/option.js";
import { scripts } from "./scripts.js";

export interface Suggestions {
  readonly words: readonly (readonly [word: string, meaning: string])[];
  readonly isFile: boolean;
}

const nothing: Suggestions = { words: [], isFile: false };
const files: Suggestions = { words: [], isFile: true };

/** The last word of `typed` may be empty. */
export async function suggest(program: Command, typed: readonly string[]): Promise<Suggestions> {
  const { words, isSplit } = joined(typed);
  const current = words.at(-1) ?? "";
  const before = words.slice(0, -1);
  const { command, rest } = findCommand(program, before);
  const given = (flag: string) => command.options.find(({ long, short }) => flag === long || flag === short);
  if (!before.includes("--")) {
    const equals = current.indexOf("=");
    if (current.startsWith("--") && equals !== -1) {
      const option = given(current.slice(0, equals));
      const prefix = isSplit ? "" : current.slice(0, equals + 1);
      return option ? withPrefix(prefix, await valuesOf(option, current.slice(equals + 1), rest)) : nothing;
    }
    const asked = given(before.at(-1) ?? "");
    // The values of a setting, as in `timeout=`, are not suggested.
    if (asked?.long === "--set" && equals !== -1) return nothing;
    if (asked?.required) return valuesOf(asked, current, rest);
    if (current.startsWith("-")) return startingWith(current, command.options.flatMap(wordsOf));
  }
  const commands = command.commands.filter((child) => child.name() !== "help");
  if (commands.length > 0 && rest.length > 0) return nothing;
  const described = commands.map((child) => [child.name(), child.summary()] as const);
  if (commands.length > 0) return startingWith(current, described);
  if (command.name() === "help") return startingWith(current, named(topicNames));
  if (command.name() === "completion") return startingWith(current, named(Object.keys(scripts)));
  const takesFiles = command.registeredArguments.some((argument) => argument.name().startsWith("FILE"));
  return takesFiles ? files : nothing;
}

/** bash splits `--only=ok` and `timeout=1m` into three words. */
function joined(typed: readonly string[]): { readonly words: readonly string[]; readonly isSplit: boolean } {
  const words: string[] = [];
  for (const [i, word] of typed.entries()) {
    const follows = word === "=" || typed[i - 1] === "=";
    const isOption = words.at(-1)?.startsWith("--") || words.at(-2) === "--set";
    if (follows && isOption) words[words.length - 1] += word;
    else words.push(word);
  }
  return { words, isSplit: words.length < typed.length };
}

function findCommand(program: Command, words: readonly string[]): { command: Command; rest: readonly string[] } {
  let command = program;
  const rest: string[] = [];
  for (const [i, word] of words.entries()) {
    const previous = command.options.find(({ long, short }) => words[i - 1] === long || words[i - 1] === short);
    if (word.startsWith("-") || previous?.required) continue;
    const child = command.commands.find((candidate) => candidate.name() === word);
    if (child) command = child;
    else rest.push(word);
  }
  return { command, rest };
}

const wordsOf = ({ long, short, description, hidden }: Option): (readonly [string, string])[] =>
  hidden ? [] : [long, short].flatMap((flag) => (flag ? [[flag, description] as const] : []));

async function valuesOf(option: Option, current: string, rest: readonly string[]) {
  const known = wordsFor(option);
  if (known.length > 0) {
    const done = isJoined(option) ? current.slice(0, current.lastIndexOf(",") + 1) : "";
    const words = known.filter((word) => !done.split(",").includes(word));
    return startingWith(current, named(words.map((word) => done + word)));
  }
  const placeholder = /[<[]=?([^>\]]+)[>\]]/.exec(option.flags)?.[1] ?? "";
  if (option.long === "--column" || option.long === "--by")
    return startingWith(current, named(await columnsOf(rest[0])));
  return /FILE|DIR/.test(placeholder) ? files : nothing;
}

async function columnsOf(path: string | undefined): Promise<readonly string[]> {
  // A named pipe would block and lose its data.
  if (path === undefined || !found(path)?.isFile()) return [];
  try {
    const { bytes } = await decodeInput(path, createReadStream(path, { end: 65_535 }));
    const source = { name: path, bytes };
    const lenient = { profile: profiles.email, badRows: "keep", force: true, columns: ["1"] } as const;
    const { header } = await openTable(source, lenient);
    return (header ?? []).map((name) => Buffer.from(name, "latin1").toString()).filter((name) => name.trim() !== "");
  } catch {
    return [];
  }
}

const named = (words: readonly string[]): (readonly [string, string])[] => words.map((word) => [word, ""]);

function startingWith(start: string, words: readonly (readonly [string, string])[]): Suggestions {
  return { words: words.filter(([word]) => word.startsWith(start)), isFile: false };
}

function withPrefix(prefix: string, { words, isFile }: Suggestions): Suggestions {
  return { words: words.map(([word, meaning]) => [prefix + word, meaning]), isFile };
}
