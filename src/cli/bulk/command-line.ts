/** Writes command lines for messages, quoted for a POSIX shell. */
import type { Kind } from "../../core/validator/validator.js";

export const commandLine = (words: readonly string[]): string => ["idv", ...words.map(shellWord)].join(" ");

export const commandFor = (kind: Kind): string => (kind === "email" ? "emails" : "domains");

/** A path that starts with a hyphen would be an option. */
export const pathWord = (path: string): string => (path.startsWith("-") ? `./${path}` : path);

export const shellWord = (word: string): string =>
  /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
