/** A table whose rows are cards on narrow screens, with the name of the column before each cell but the first. */
import type { ComponentChildren } from "preact";
import { Head, Key } from "../../../core/facts/render/parts.js";

type Column<Row> = readonly [
  name: string,
  cellOf: (row: Row) => ComponentChildren,
  className?: "name" | "number" | undefined,
];

/** The last column is one of buttons, which need no name. */
export const endColumn = "End";

export const CardTable = <Row,>({ rows, columns }: { rows: readonly Row[]; columns: readonly Column<Row>[] }) => (
  <table class="cards-table">
    <Head
      columns={columns.map(([name, , className]) => {
        if (className === "number") return { number: name };
        return name === endColumn ? <span class="hint">{name}</span> : name;
      })}
    />
    <tbody>
      {rows.map((row, i) => (
        <tr key={i}>
          {columns.map(([name, cellOf, className], i) => (
            <td key={name} class={className} data-label={i === 0 || name === endColumn ? undefined : name}>
              {cellOf(row)}
            </td>
          ))}
        </tr>
      ))}
    </tbody>
  </table>
);

export const Status = ({ status }: { status: string }) => (
  <>
    <Key className={status} />
    {status}
  </>
);
