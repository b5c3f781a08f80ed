/** Writes command lines for messages, quoted for a POSIX shell. */

/** @param words the words after the program's name */
export const commandLine = (words: readonly string[]): string => ["idv", ...words.map(shellWord)].join(" ");

/** Returns a word as a POSIX shell takes it. */
const shellWord = (word: string): string =>
  /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;

/**
 * Returns the command line that validates the rows that a run in place has left.
 *
 * @param words the words of that run after the program's name
 */
export function updateCommand(words: readonly string[]): string {
  const [command = "", ...rest] = words.filter((word) => !/^--update(?:=|$)/.test(word));
  const place = rest.findIndex((word) => /^(?:-[a-zA-Z]*I|--in-place)/.test(word));
  return commandLine([command, ...rest.slice(0, place + 1), "--update", ...rest.slice(place + 1)]);
}
