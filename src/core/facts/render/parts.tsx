/** Parts of pages: bars, lists and tables, in SVG and HTML. Text is escaped when the page is rendered. */
import type { ComponentChildren } from "preact";
import { grouped, percent } from "../../../text.js";
import { shownStatus } from "../../validator/statuses.js";
import type { Slice } from "../words.js";

type SectionParts = { heading: string; children: ComponentChildren; id?: string; class?: string };

export const Section = ({ heading, children, ...attributes }: SectionParts) => (
  <section {...attributes}>
    <h2>{heading}</h2>
    {children}
  </section>
);

export function StackedBar({ slices, className }: { slices: readonly Slice[]; className: string }) {
  const total = slices.reduce((sum, { count }) => sum + count, 0);
  let x = 0;
  const rectangles = slices
    .filter(({ count }) => count > 0)
    .map((slice) => {
      const width = (100 * slice.count) / total;
      const rectangle = (
        <rect key={slice.label} class={slice.className} x={x.toFixed(3)} y="0" width={width.toFixed(3)} height="10">
          <title>{`${shownStatus(slice.label)}: ${grouped(slice.count)}`}</title>
        </rect>
      );
      x += width;
      return rectangle;
    });
  const text = slices.map(({ label, count }) => `${shownStatus(label)} ${grouped(count)}`).join(", ");
  return (
    <svg class={className} viewBox="0 0 100 10" preserveAspectRatio="none" role="img" aria-label={text}>
      <rect class="track" width="100" height="10" />
      {rectangles}
    </svg>
  );
}

export const Key = ({ className }: { className: string }) => (
  <svg class="key" viewBox="0 0 10 10" aria-hidden="true">
    <rect class={className} width="10" height="10" />
  </svg>
);

export type StatusRow = Slice & { readonly advice?: string };

export const Head = ({ columns }: { columns: readonly (ComponentChildren | { readonly number: string })[] }) => (
  <thead>
    <tr>
      {columns.map((column, i) => {
        const isNumber = typeof column === "object" && column !== null && "number" in column;
        return (
          <th key={i} scope="col" class={isNumber ? "number" : undefined}>
            {isNumber ? column.number : (column as ComponentChildren)}
          </th>
        );
      })}
    </tr>
  </thead>
);

export function StatusTable({ statuses, all, total }: { statuses: readonly StatusRow[]; all: number; total?: string }) {
  const hasAdvice = statuses.some(({ advice }) => advice !== undefined);
  return (
    <>
      <StackedBar slices={statuses} className="stacked" />
      <table class="statuses">
        <Head columns={["Status", { number: "Rows" }, { number: "Share" }, ...(hasAdvice ? ["What to do"] : [])]} />
        <tbody>
          {statuses.map(({ className, label, count, advice }) => (
            <tr key={label}>
              <th scope="row">
                <Key className={className} />
                {shownStatus(label)}
                {shownStatus(label) !== label && <small> {label}</small>}
              </th>
              <td class="number">{grouped(count)}</td>
              <td class="number">{percent(count, all)}</td>
              {hasAdvice && <td class="advice">{advice}</td>}
            </tr>
          ))}
          {total !== undefined && (
            <tr>
              <th scope="row">{total}</th>
              <td class="number">{grouped(all)}</td>
              <td class="number" />
            </tr>
          )}
        </tbody>
      </table>
    </>
  );
}

interface Bars extends Record<"heading" | "column" | "className", string> {
  figure?: string;
  entries: readonly (readonly [name: string, count: number])[];
}

/** Nothing without entries. */
export function BarTable({ heading, column, figure = "Rows", entries, className }: Bars) {
  if (entries.length === 0) return null;
  const most = Math.max(...entries.map(([, count]) => count));
  return (
    <Section heading={heading}>
      <table>
        <thead>
          <tr>
            <th scope="col" colSpan={2}>
              {column}
            </th>
            <th scope="col" class="number">
              {figure}
            </th>
          </tr>
        </thead>
        <tbody>
          {entries.map(([name, count]) => (
            <tr key={name}>
              <td class="name">{name}</td>
              <td class="chart">
                <svg class="bar" viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true">
                  <rect class={className} width={((100 * count) / most).toFixed(2)} height="10" />
                </svg>
              </td>
              <td class="number">{grouped(count)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </Section>
  );
}

export const Terms = ({ terms }: { terms: readonly (readonly [term: string, text: ComponentChildren])[] }) => (
  <dl>
    {terms.map(([term, text]) => (
      <>
        <dt>{term}</dt>
        <dd>{text}</dd>
      </>
    ))}
  </dl>
);
