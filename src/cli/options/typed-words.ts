/** Brings what is typed as options into the form that commander takes, and refuses slips. */
import { existsSync } from "node:fs";
import type { Command, Option } from "commander";
import { printable } from "../../text.js";
import { settingNames } from "../config/settings.js";
import { UsageError } from "../errors.js";
import { timeMeant } from "./meant-forms.js";
import { isJoined, wordsFor } from "./option.js";

/**
 * commander would take the next word for an optional value. As in sed, only a value after `=`, or attached to a short
 * option, is taken: in `-I list.csv`, `list.csv` is the FILE. Without `=` in the flags, as in `--wait [TIME]`, the next
 * word is taken, too, if it is a time. @throws UsageError for a value after a blank that is not a file
 */
export function normalizeWords(words: readonly string[], command: Command): string[] {
  refuseUnseen(words, command);
  const end = words.indexOf("--");
  const own = end === -1 ? words : words.slice(0, end);
  for (const [i, word] of own.entries()) {
    refuseSlip(word, own[i - 1], command);
    refuseUnjoined(word, own.slice(0, i), command);
    refuseValueApart(word, own.slice(0, i), command);
  }
  const optional = command.options.filter((option) => option.optional);
  const switches = command.options.flatMap(({ short, required, optional }) =>
    short && !required && !optional ? [short[1]!] : [],
  );
  // In `-qI`, I is a flag. In `-cKPI`, the letters after `-c` are its value.
  const isBundle = (word: string, short: string | undefined) =>
    short !== undefined &&
    word.length > 2 &&
    word.endsWith(short[1]!) &&
    /^-[a-zA-Z]+$/.test(word) &&
    [...word.slice(1, -1)].every((letter) => switches.includes(letter));
  const normal: string[] = [];
  for (const word of own) {
    const before = optional.find(({ long, presetArg }) => normal.at(-1) === `${long}=${presetArg ?? ""}`);
    const takesTime = before !== undefined && !before.flags.includes("[=");
    if (takesTime && isTime(word) && !existsSync(word)) {
      normal[normal.length - 1] += word;
      continue;
    }
    if (before !== undefined) refuseOptionalApart(word, before, takesTime ? ["TIME"] : wordsFor(before), command);
    const option = optional.find(({ long, short }) => word === long || word === short || isBundle(word, short));
    if (option === undefined) {
      normal.push(word);
      continue;
    }
    if (isBundle(word, option.short)) normal.push(word.slice(0, -1));
    normal.push(`${option.long}=${option.presetArg ?? ""}`);
  }
  return [...normal, ...words.slice(own.length)];
}

/** @throws UsageError for a value after an option that takes it only with `=` */
function refuseOptionalApart(word: string, option: Option, values: readonly string[], command: Command): void {
  const isFile = takesFiles(command);
  // Other commands take items and names, so only words that the option accepts count as its value.
  const isValue = values.includes(word) || (values.length > 0 && /^\w+[:,]/.test(word) && isAccepted(option, word));
  if (existsSync(word) || !(isValue || (isFile && values.length > 0 && /^[\w:,%]+$/.test(word)))) return;
  const written = (isValue ? [word] : values).map((each) => `${option.long}=${each}`).join(" or ");
  throw new UsageError(`${word}: ${isFile ? "no such file; " : ""}the value of ${option.long} is written ${written}`);
}

function isAccepted(option: Option, word: string): boolean {
  try {
    option.parseArg?.(word, undefined);
    return true;
  } catch {
    return false;
  }
}

/** No-break spaces, and marks without a width. */
const unseen = /[\u00a0\u2007\u202f\u200b-\u200d\u2060\ufeff]/;

/** Returns a message about the first invisible character in a word; undefined if there is none. */
export function unseenIn(word: string): string | undefined {
  const [found] = unseen.exec(word) ?? [];
  const code = found?.charCodeAt(0).toString(16).toUpperCase().padStart(4, "0");
  return code && `has an unseen character in it (U+${code}); type it again`;
}

/** Refuses carriage returns of Windows scripts and invisible characters copied from web pages. @throws UsageError */
function refuseUnseen(words: readonly string[], command: Command): void {
  for (const [i, word] of words.entries()) {
    const isValue = optionIn(words[i - 1], command)?.required === true;
    const isOurs = word.startsWith("-") || takesFiles(command);
    if (word.endsWith("\r") && (isOurs || isValue) && !existsSync(word))
      throw new UsageError("a word ends in a carriage return; save the script with the line ends of Unix (LF)");
    // In `-cNAME`, the letters after -c are a value.
    const name = /^-\w/.test(word) ? word.slice(0, 2) : word.replace(/=.*/s, "");
    const mark = isOurs && !isValue ? unseenIn(name) : undefined;
    if (mark !== undefined && !existsSync(word)) throw new UsageError(`${printable(name)}: ${mark}`);
  }
}

/** Returns the option that takes the next word; in `-qo`, that is -o. */
function optionIn(word: string | undefined, { options }: Command): Option | undefined {
  const last = /^-[A-Za-z]{2,}$/.test(word ?? "") ? `-${word!.at(-1)}` : word;
  return options.find(({ short, long }) => last !== undefined && (short === last || long === last));
}

/** For other commands, a word may be a value of their own. */
const takesFiles = (command: Command): boolean => ["emails", "domains"].includes(command.name());

/** What text programs, other shells and other programs make of an option. @throws UsageError */
function refuseSlip(word: string, before: string | undefined, command: Command): void {
  const { options } = command;
  const [, start = "", quoted] = /^((?:[\w-]+=)*)[\u201c-\u201f](.*)[\u201c-\u201f]$/s.exec(word) ?? [];
  if (quoted !== undefined && !existsSync(word))
    throw new UsageError(`${word}: has the quotation marks of a text program; type ${start}"${quoted}"`);
  const emptied = options.find(({ flags, long }) => word === `${long}=` && / \[[^=]/.test(flags));
  if (emptied !== undefined) throw new UsageError(`${word} needs a value: ${emptied.flags}`);
  const own = optionIn(before, command);
  if (own && !own.required && !own.optional && /^(?:yes|no|true|false|on|off)$/i.test(word) && !existsSync(word))
    throw new UsageError(`${own.long} takes no value; leave out ${word}`);
  const isOption =
    ["-h", "--help"].includes(word) || options.some(({ short, long }) => word === short || word === long);
  if (own?.required && isOption)
    throw new UsageError(`${before} needs a value, and ${word} is an option; write ${own.flags}`);
  // A value may be anything else.
  if (own?.required) return;
  refuseMark(word, command);
  refuseForm(word, command);
}

/** Refuses quotation marks and dashes of word processors, and slashes of Windows. @throws UsageError */
function refuseMark(word: string, command: Command): void {
  if (/^[\u201c-\u201f]/.test(word) && takesFiles(command) && !existsSync(word))
    throw new UsageError(`${word}: begins with the quotation mark of a text program; type "`);
  const [dash] = /^-?[\u2010-\u2015\u2212][\u2010-\u2015\u2212-]*(?=[A-Za-z])/.exec(word) ?? [];
  if (dash !== undefined && !existsSync(word)) {
    const typed = word.slice(dash.length);
    throw new UsageError(`${word}: has the dash of a text program; type ${typed.length > 1 ? "--" : "-"}${typed}`);
  }
  const [, slashed] = /^\/([a-z-]{2,})$/.exec(word) ?? [];
  if (command.options.some(({ long }) => long === `--${slashed}`) && !existsSync(word))
    throw new UsageError(`${word}: an option starts with --: --${slashed}`);
}

/** @throws UsageError for an option in a form that commander would take for another one, or for a file */
function refuseForm(word: string, command: Command): void {
  const { options } = command;
  if (/^(?:-help|-\?|\/\?|--?hlep|--?hepl)$/.test(word) && !existsSync(word))
    throw new UsageError(`${word}: for the help, write --help`);
  if (word === "\\") throw new UsageError('"\\": remove the space after the \\ at the end of the line');
  const [, bare] = /^([a-z-]{2,})=./.exec(word) ?? [];
  if (
    bare !== undefined &&
    takesFiles(command) &&
    options.some(({ long }) => long === `--${bare}`) &&
    !existsSync(word)
  )
    throw new UsageError(`${bare}=: an option starts with --: --${bare}`);
  const [, name = "", value = ""] = /^-([A-Za-z][\w-]*)(=.*)?$/s.exec(word) ?? [];
  if (name.length > 2 && options.some(({ long }) => long === `--${name}`))
    throw new UsageError(`-${name}: write --${name}${value}`);
  // `-out` would be the option -o with the value ut.
  const start = /^-([a-z]{3,})$/.exec(word)?.[1];
  const longer = options.find(
    ({ long, short }) => start && long?.startsWith(`--${start}`) && short === word.slice(0, 2),
  );
  if (longer !== undefined) throw new UsageError(`${word}: write ${longer.flags}`);
  // `-Iq` would be -I with the suffix q.
  const flag = /^-I([a-z])$/i.exec(word)?.[1];
  if (flag !== undefined && options.some(({ short, required }) => short === `-${flag}` && !required))
    throw new UsageError(`${word}: write -I -${flag}`);
  // `-oq` would be the output q.
  const switches = options.filter(({ required, optional }) => !required && !optional).map(({ short: each }) => each);
  const [, letters] = /^-o([a-z]+)$/i.exec(word) ?? [];
  if (letters !== undefined && [...letters].every((letter) => switches.includes(`-${letter}`)))
    throw new UsageError(`${word}: write -${letters} -o`);
  const short = options.find((option) => option.short === `-${name}`);
  if (short?.optional && value === "=") throw new UsageError(`${word}: write -${name}`);
  // In `-d=`, the delimiter is =.
  if (value.length < 2 || short === undefined) return;
  throw new UsageError(`${word}: write ${short.optional ? `${short.long}${value}` : `-${name} ${value.slice(1)}`}`);
}

/** @throws UsageError for the second of several values, which is no file */
function refuseUnjoined(word: string, before: readonly string[], { options }: Command): void {
  const [, name = before.at(-2), value = before.at(-1)] = /^(--[\w-]+)=(.+)$/s.exec(before.at(-1) ?? "") ?? [];
  const option = options.find(({ short, long }) => name !== undefined && (name === short || name === long));
  const isUnjoined = option && isJoined(option) && wordsFor(option).includes(word);
  if (!isUnjoined || existsSync(word)) return;
  throw new UsageError(`${word}: values are joined by commas, as in ${name} ${value},${word}`);
}

/** @throws UsageError for a word that belongs to the value before it, and is no file */
function refuseValueApart(word: string, before: readonly string[], command: Command): void {
  const [option, value = ""] = [before.at(-2), before.at(-1)];
  if (!takesFiles(command) || word.startsWith("-") || existsSync(word)) return;
  if (before.at(-1) === "--dns" && /^\d+(?:\.\d+){3}$/.test(word))
    throw new UsageError(`${word}: no such file; a DNS server is named with --set dnsServer=${word}`);
  const isList = option === "--bad-rows" && /^(?:skip|keep)$/.test(value) && before.some((each) => existsSync(each));
  if (isList)
    throw new UsageError(`${word}: no such file; the list of bad rows is written --bad-rows ${value}:${word}`);
  // Other words may be keys, which are not shown.
  const named = (text: string) => settingNames.find((name) => name === text);
  if (option === "--set" && named(value) !== undefined)
    throw new UsageError(`--set: "${value}" has no value; write --set ${value}=VALUE`);
  const another = option === "--set" ? named(word.replace(/=.*/s, "")) : undefined;
  if (another !== undefined && word.includes("="))
    throw new UsageError(`${another}=...: no such file; each setting has its own option: --set ${another}=VALUE`);
}

/** Also in a form that is refused as a time. */
const isTime = (word: string): boolean => /^\d+(?:\.\d+)?$/.test(word) || timeMeant(word) !== undefined;
