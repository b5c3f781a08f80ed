/** Writes command lines for messages, quoted for a POSIX shell. */

/** @param words the words after the program's name */
export const commandLine = (words: readonly string[]): string => ["idv", ...words.map(shellWord)].join(" ");

/** Returns a path as a word of a command line, where one that starts with a hyphen would be an option. */
export const pathWord = (path: string): string => (path.startsWith("-") ? `./${path}` : path);

/** Returns a word as a POSIX shell takes it. */
const shellWord = (word: string): string =>
  /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
