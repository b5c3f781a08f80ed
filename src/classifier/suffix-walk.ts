/**
 * The longest name that `ascii` is or lies under and that is wanted, if any.
 *
 * @param ascii a host name, lower case, A-labels
 */
export function findSuffixIn(ascii: string, isWanted: (suffix: string) => boolean): string | undefined {
  for (let rest = ascii; ; ) {
    if (isWanted(rest)) return rest;
    const dot = rest.indexOf(".");
    if (dot === -1) return undefined;
    rest = rest.slice(dot + 1);
  }
}
