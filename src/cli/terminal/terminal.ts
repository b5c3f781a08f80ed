import type { ChalkInstance } from "chalk";

/**
 * Text from a file, a server or the command line, made safe to print. Control characters, which could move the cursor or
 * change colours, line separators, and direction marks, which make a name look like another one, become their escapes.
 */
export function printable(text: string): string {
  return text.replace(
    /[\p{Cc}\p{Bidi_Control}\u2028\u2029]/gu,
    (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`,
  );
}

/** Whether a stream shows colours: NO_COLOR (https://no-color.org) and FORCE_COLOR decide before the terminal. */
export function showsColour(stream: { readonly isTTY?: boolean }, env: NodeJS.ProcessEnv): boolean {
  if (env["NO_COLOR"]) return false;
  if (env["FORCE_COLOR"]) return env["FORCE_COLOR"] !== "0";
  return stream.isTTY === true && env["TERM"] !== "dumb";
}

/** chalk for a stream, which ignores NO_COLOR by itself; loaded only where colours show. */
export async function colours(
  stream: { readonly isTTY?: boolean },
  env: NodeJS.ProcessEnv,
): Promise<ChalkInstance | undefined> {
  if (!showsColour(stream, env)) return undefined;
  const { Chalk } = await import("chalk");
  return new Chalk({ level: 1 });
}

/** Prints one line for people, on stderr. */
export function say(message: string): void {
  process.stderr.write(`idv: ${printable(message)}\n`);
}
