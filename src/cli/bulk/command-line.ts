/** Writes command lines for messages, quoted for a POSIX shell. */
import type { Kind } from "../../core/validator/validator.js";
import { shellWord } from "../../text.js";

export const commandLine = (words: readonly string[]): string => ["idv", ...words.map(shellWord)].join(" ");

export const commandFor = (kind: Kind): string => (kind === "email" ? "emails" : "domains");
