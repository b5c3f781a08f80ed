/** The columns that a run adds to a table. */
export interface Columns {
  /** Their names, in order: the status, and with reasons the reason and the suggestion. */
  readonly names: readonly string[];
  readonly withReasons: boolean;
  /** Those that could not have their usual names, because the table has such columns already. */
  readonly renamed: readonly { readonly usual: string; readonly name: string }[];
}

/**
 * Names our columns so that none is called like a column of the table: `status`, or else `idv_status`, or else
 * `idv_status_2` ...
 *
 * @param header the table's own names; undefined when it has no header
 * @param statusColumn the usual name of the status's column
 */
export function nameColumns(
  header: readonly string[] | undefined,
  statusColumn: string,
  withReasons: boolean,
): Columns {
  const taken = new Set(header);
  const named = [statusColumn, ...(withReasons ? ["reason", "suggestion"] : [])].map((usual) => {
    const name = firstFree(usual, taken);
    taken.add(name);
    return { usual, name };
  });
  return {
    names: named.map(({ name }) => name),
    withReasons,
    renamed: named.filter(({ usual, name }) => usual !== name),
  };
}

function firstFree(usual: string, taken: ReadonlySet<string>): string {
  if (!taken.has(usual)) return usual;
  const prefixed = `idv_${usual}`;
  if (!taken.has(prefixed)) return prefixed;
  for (let n = 2; ; n++) {
    if (!taken.has(`${prefixed}_${n}`)) return `${prefixed}_${n}`;
  }
}
