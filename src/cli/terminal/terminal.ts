/** Colours, and lines on standard error. */
import type { ChalkInstance } from "chalk";
import { printable } from "../../text.js";
import type { Failure } from "../errors.js";

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
