/** Builds the command that resumes a run, for messages. */

/**
 * Returns the command line that resumes a run, quoted for a POSIX shell: the same words without `--refresh`, which
 * would pay for everything again.
 *
 * @param words the words after the program's name
 */
export function resumeCommand(words: readonly string[]): string {
  const end = words.indexOf("--");
  const kept = words.filter((word, i) => word !== "--refresh" || (end !== -1 && i > end));
  return ["idv", ...kept.map(quote)].join(" ");
}

const quote = (word: string): string =>
  /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
