/** Buttons and choices of the page. */
import type { ComponentProps } from "preact";

export const Button = ({ text, ...button }: ComponentProps<"button"> & { text: string }) => (
  <button type="button" {...button}>
    {text}
  </button>
);

interface ChoiceParts {
  label: string;
  options: readonly (readonly [value: string, text: string])[];
  chosen?: string | undefined;
  onChoose: (value: string) => void;
}

export const Choice = ({ label, options, chosen = "", onChoose }: ChoiceParts) => (
  <label>
    {label}
    <select value={chosen} onChange={({ currentTarget }) => onChoose(currentTarget.value)}>
      {options.map(([value, text]) => (
        <option key={value} value={value}>
          {text}
        </option>
      ))}
    </select>
  </label>
);

type Sheets = { sheets: readonly string[]; chosen: string | undefined; onChoose: (sheet: string) => void };

export const SheetChoice = ({ sheets, ...choice }: Sheets) =>
  sheets.length > 1 && <Choice label="Sheet" options={sheets.map((name) => [name, name])} {...choice} />;

/** Columns by their numbers. */
export const optionsOf = (columns: readonly string[]) =>
  columns.map((name, i) => [String(i + 1), `${i + 1} ${name}`] as const);
