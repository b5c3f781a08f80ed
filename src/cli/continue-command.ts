/**
 * The command line that a user typed, quoted for a POSIX shell.
 *
 * @param words those behind the program's name
 */
export function continueCommand(words: readonly string[]): string {
  return ["idv", ...words.map(quote)].join(" ");
}

const quote = (word: string): string =>
  /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
