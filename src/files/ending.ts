/** The endings of names of files. */

/** Whether a report of this name is a page, or one that is printed. */
export const isPage = (path: string): boolean => !isMarkdown(path) && !["json", "svg"].includes(endingOf(path));

export const isMarkdown = (path: string): boolean => /\.(?:md|markdown)$/i.test(path);

/** In lower case, ignoring that of a compression; empty if there is none. */
export function endingOf(path: string): string {
  const [, ending = ""] = /\.([^./\\]+)(?:\.(?:gz|zst))?$/i.exec(path) ?? [];
  return ending.toLowerCase();
}
