/** Colours, and lines on standard error. */
import { failureLine, printable, printableJson, printForRunner } from "../../text.js";
import type { Failure } from "../errors.js";
import { codeOf } from "../exit-codes.js";

export const colourChoices = ["auto", "always", "never"] as const;
export type ColourChoice = (typeof colourChoices)[number];

let wanted: ColourChoice = "auto";

export function chooseColour(choice: ColourChoice): void {
  wanted = choice;
}

/** Precedence: `--color`, NO_COLOR (https://no-color.org), FORCE_COLOR, then whether the stream is a terminal. */
export function showsColour(stream: { readonly isTTY?: boolean }, env: NodeJS.ProcessEnv): boolean {
  if (wanted !== "auto") return wanted === "always";
  if (env["NO_COLOR"]) return false;
  if (env["FORCE_COLOR"]) return env["FORCE_COLOR"] !== "0";
  return stream.isTTY === true && env["TERM"] !== "dumb";
}

/** chalk itself ignores NO_COLOR. */
export async function colours(stream: { readonly isTTY?: boolean }, env: NodeJS.ProcessEnv) {
  if (!showsColour(stream, env)) return undefined;
  const { Chalk } = await import("chalk");
  return new Chalk({ level: 1 });
}

let isJson = false;

/** Called before the words are parsed: their faults are for the same reader (`--log json`, `--log github`). */
export function prepareLog(words: readonly string[]): void {
  const formats = words.map((word, i) =>
    (words[i - 1] === "--log" ? word : /^--log=(.*)$/s.exec(word)?.[1])?.trim().toLowerCase(),
  );
  isJson = formats.includes("json");
  printForRunner(formats.includes("github"));
}

export function say(message: string): void {
  process.stderr.write(`${isJson ? printableJson({ type: "note", message }) : `idv: ${printable(message)}`}\n`);
}

export function sayFailure(failure: Failure): void {
  const { exitCode, at, message, plain = message, code = codeOf(exitCode), excerpt } = failure;
  if (message === undefined) return;
  if (isJson) process.stderr.write(`${printableJson({ type: "error", code, exitCode, at, message, plain })}\n`);
  else process.stderr.write(failureLine(message));
  if (isJson || excerpt === undefined || !process.stderr.isTTY) return;
  const line = `  ${excerpt.line} | ${printable(excerpt.text)}`;
  const room = Math.max(20, (process.stderr.columns || 80) - 1);
  process.stderr.write(`${line.length > room ? `${line.slice(0, room - 3)}...` : line}\n`);
}
