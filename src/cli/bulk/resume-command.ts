/**
 * The command line that continues what a user began, quoted for a POSIX shell: as it was typed, but for `--refresh`, which
 * would have all asked again.
 *
 * @param words those behind the program's name
 */
export function continueCommand(words: readonly string[]): string {
  const end = words.indexOf("--");
  const kept = words.filter((word, i) => word !== "--refresh" || (end !== -1 && i > end));
  return ["idv", ...kept.map(quote)].join(" ");
}

const quote = (word: string): string =>
  /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
