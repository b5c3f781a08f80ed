/** Text for people: escaping, colours, lines on standard error. */
import type { ChalkInstance } from "chalk";
import type { Failure } from "../errors.js";

/**
 * Makes text from a file, a server or the command line safe to print. Control characters could move the cursor or
 * change colours, direction marks could disguise a name: these and line separators become visible escapes.
 */
export function printable(text: string): string {
  const shown = text.replace(
    /[\p{Cc}\p{Bidi_Control}\u2028\u2029]/gu,
    (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`,
  );
  return isForRunner ? withoutCommands(shown) : shown;
}

let isForRunner = false;

/** Prepares for standard error that the runner of GitHub Actions reads: no text from outside becomes a command. */
export function printForRunner(isRunner: boolean): void {
  isForRunner = isRunner;
}

/**
 * The runner takes `::command::` at the start of a line, after spaces, too, and `##[command]` anywhere in a line (its source,
 * ActionCommand.cs).
 */
const withoutCommands = (text: string): string =>
  text.replace(/^(\s*):(?=:)/, "$1\\u{3a}").replaceAll("##[", "##\\u{5b}");

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

/** Loads chalk for a stream that shows colours; chalk itself ignores NO_COLOR. */
export async function colours(
  stream: { readonly isTTY?: boolean },
  env: NodeJS.ProcessEnv,
): Promise<ChalkInstance | undefined> {
  if (!showsColour(stream, env)) return undefined;
  const { Chalk } = await import("chalk");
  return new Chalk({ level: 1 });
}

export function say(message: string): void {
  process.stderr.write(`idv: ${printable(message)}\n`);
}

export function sayFailure({ message, excerpt }: Failure): void {
  if (message === undefined) return;
  say(message);
  if (excerpt === undefined || !process.stderr.isTTY) return;
  const line = `  ${excerpt.line} | ${printable(excerpt.text)}`;
  const room = Math.max(20, (process.stderr.columns || 80) - 1);
  process.stderr.write(`${line.length > room ? `${line.slice(0, room - 3)}...` : line}\n`);
}

/**
 * Groups the digits of a whole number in threes: `2,000`. toLocaleString would load the data of all locales, a tenth of
 * the time of a small run.
 */
export function grouped(count: number): string {
  return String(count).replace(/\B(?=(?:\d{3})+$)/g, ",");
}

export function counted(count: number, one: string, many = `${one}s`): string {
  return `${grouped(count)} ${count === 1 ? one : many}`;
}
