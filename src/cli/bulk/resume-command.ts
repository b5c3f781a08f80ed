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
  return ["idv", ...kept.map(shellWord)].join(" ");
}

/** Returns a word as a POSIX shell takes it. */
export const shellWord = (word: string): string =>
  /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;

/** Returns the command line that validates the rows that a run in place has left, quoted for a POSIX shell. */
export function updateCommand(words: readonly string[]): string {
  const [command = "", ...rest] = words.filter(
    (word) => word !== "--refresh" && !/^--update(?:=|$)/.test(word),
  );
  const place = rest.findIndex((word) => /^(?:-[a-zA-Z]*I|--in-place)/.test(word));
  return resumeCommand([command, ...rest.slice(0, place + 1), "--update", ...rest.slice(place + 1)]);
}
