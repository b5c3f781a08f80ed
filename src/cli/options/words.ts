/** Parsers of options whose words stand for rows: statuses, flags, columns, and what to do with them. */
import { itemFlags } from "../../core/classifier/flags/flag-names.js";
import { mailServices } from "../../core/classifier/flags/mail-services.js";
import { meantBy } from "../../core/meant.js";
import type { BadRowPolicy } from "../../core/table/bad-rows.js";
import { type Kind, knownStatuses } from "../../core/validator/validator.js";
import { statusesCalled } from "./others-words.js";
import { InvalidValue, knownWord, path } from "./values.js";

export interface Limit {
  readonly count: number;
  readonly isPerCent: boolean;
}

/** In lists of statuses, stands for rows without an item. */
export const noItem = "empty";

export const flagPrefix = "flag:";
export const needsDns = (word: string): boolean => /^flag:(?:parked|mx:)/.test(word);
const namedFlags = [...itemFlags, "parked"];
const flags = [...namedFlags, ...mailServices.map((name) => `mx:${name}`)];
const acceptedFlags = `Flags: ${[...namedFlags, "mx:NAME"].map((flag) => flagPrefix + flag).join(", ")}.`;

function knownFlag(word: string): string {
  const meant = (text: string) => {
    const flag = meantBy(text.slice(flagPrefix.length), flags);
    return flag && flagPrefix + flag;
  };
  const known = flags.map((flag) => flagPrefix + flag);
  return knownWord(word, known, meant, acceptedFlags);
}

export function filterList(kind: Kind) {
  const statusesIn = statusList(kind, noItem);
  return (value: string): string[] => {
    const words = partsOf(value);
    const known = words.filter((word) => word.startsWith(flagPrefix)).map(knownFlag);
    const statuses = words.filter((word) => !word.startsWith(flagPrefix));
    return [...(statuses.length > 0 ? statusesIn(statuses.join(",")) : []), ...new Set(known)];
  };
}

export const statusesOf = (kind: Kind, ...others: readonly string[]): readonly string[] => [
  ...knownStatuses.filter((status) => kind === "email" || status !== "alias"),
  ...others,
];

export function statusList(kind: Kind, ...others: readonly string[]) {
  const statuses = statusesOf(kind, ...others);
  const flagCalled = (word: string) =>
    others.includes(noItem) && flags.includes(word) ? flagPrefix + word : undefined;
  const called = (word: string) => {
    const found = statusesCalled(word)?.filter((status) => statuses.includes(status)) ?? [];
    return found.length === 0 ? undefined : found;
  };
  const meant = (word: string): string | undefined => {
    const [, kind, rest] = /^(status|flag)[=:](.+)$/.exec(word) ?? [];
    if (kind === "flag") return flagCalled(rest!);
    if (rest !== undefined) return statuses.includes(rest) ? rest : meant(rest);
    return called(word)?.join(",") ?? flagCalled(word) ?? meantBy(word, statuses);
  };
  const accepted = `Statuses of ${kind}s: ${statuses.join(", ")}.`;
  const own = statusesOf(kind).filter((status) => status !== "quota_exceeded");
  return (value: string): string[] => {
    const parts = partsOf(value);
    if (parts.some((part) => /^dup(?:e|licate)s?$/i.test(part)))
      throw new InvalidValue("For duplicates, write --dedupe.");
    const negated = parts.flatMap((part) => /^[!^~-](.+)$/.exec(part)?.[1] ?? []);
    if (negated.length > 0) {
      const left = negated.flatMap((word) => called(word) ?? knownWord(word, statuses, undefined, accepted));
      const others = own.filter((status) => !left.includes(status));
      throw new InvalidValue(`For all but ${joined(left)}, write ${others.join(",")}.`, `"${value}"`);
    }
    return [...new Set(parts.map((word) => knownWord(word, statuses, meant, accepted)))];
  };
}

// Made when it is needed: at the start it took 6 of the 53 ms of `idv check`.
const joined = (words: readonly string[]): string => new Intl.ListFormat("en-GB").format(words);

/** Commas are documented; people also write other separators, and blanks after them. */
const partsOf = (value: string): readonly string[] => {
  const parts = value.split(/[\s,;|+]+/).filter((part) => part !== "");
  return parts.length > 0 ? parts : [""];
};

export const columnsToAdd = ["canonical", "flags"] as const;

type ColumnToAdd = (typeof columnsToAdd)[number];

export function addedColumns(value: string): readonly ColumnToAdd[] {
  const accepted = `It takes ${columnsToAdd.join(", ")}; reason and suggestion: --explain, mx: --dns --explain.`;
  const meant = (word: string) => (itemFlags.some((flag) => flag === word) ? "flags" : meantBy(word, columnsToAdd));
  const found = value.split(",").map((word) => knownWord(word, columnsToAdd, meant, accepted));
  return columnsToAdd.filter((column) => found.includes(column));
}

export interface FailCondition {
  readonly statuses: readonly string[];
  readonly limit?: Limit;
  readonly needsRows: boolean;
}

export const noRows = "no-rows";

/** `disposable,fake`, `disposable,fake:2%` or `fake,no-rows` */
export function failCondition(kind: Kind) {
  const statusesIn = statusList(kind, noRows);
  return function parse(value: string): FailCondition {
    // "fake:2 %" as in print.
    const words = partsOf(value.replace(/\s+%/g, "%"));
    const isOther = /[=>]|\d,\d+\s*%/.test(value);
    const meant = isOther
      ? value.replaceAll(/[\s:]*[=>]+\s*/g, ":").replace(/(\d),(\d+\s*%)/, "$1.$2")
      : `disposable,fake:${value}`;
    if (isOther || /^\d+%?$/.test(value)) {
      // Another fault in it comes first.
      parse(meant);
      throw new InvalidValue(`Write ${meant}.`, `"${value}"`);
    }
    if (words.some((word) => word.startsWith(flagPrefix)))
      throw new InvalidValue("It takes statuses; flags are for --only and --drop.");
    const rows = words.filter((word) => word !== noRows).map((word) => word.split(":"));
    if (rows.some(([status]) => status === noRows)) throw new InvalidValue("no-rows has no limit.");
    const limits = rows.flatMap(([, ...most]) => (most.length > 0 ? [limit(most.join(":"))] : []));
    if (limits.length > 1 || (limits.length === 1 && rows.at(-1)!.length === 1))
      throw new InvalidValue("One limit counts for all statuses: disposable,fake:2%.");
    const statuses = [...new Set(rows.flatMap(([status = ""]) => statusesIn(status)))];
    return { statuses, ...(limits[0] && { limit: limits[0] }), needsRows: words.includes(noRows) };
  };
}

function limit(value: string): Limit {
  const [, count, sign] = /^(\d+(?:\.\d+)?)(%?)$/.exec(value) ?? [];
  const isPerCent = sign === "%";
  const isValid = count !== undefined && (isPerCent ? Number(count) <= 100 : !count.includes("."));
  if (!isValid) throw new InvalidValue("A limit is a number of rows, or a share of at most 100 %: fake:20, fake:2%.");
  return { count: Number(count), isPerCent };
}

export interface BadRowHandling {
  readonly policy: BadRowPolicy;
  readonly file?: string;
}

export function badRowHandling(value: string): BadRowHandling {
  const [word, file] = [/^[^:]*/.exec(value)![0], /:(.*)$/s.exec(value)?.[1]];
  const accepted = "It takes error, skip, keep, skip:FILE or keep:FILE.";
  const policy = knownWord<BadRowPolicy>(word, ["error", "skip", "keep"], undefined, accepted);
  if (policy === "error" && file !== undefined) throw new InvalidValue(accepted);
  return { policy, ...(file !== undefined && { file: path(file) }) };
}
