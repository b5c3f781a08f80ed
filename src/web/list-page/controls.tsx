/** Buttons and choices of the page. */
import type { ComponentProps } from "preact";
import { useState } from "preact/hooks";

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

/** Takes effect by a button: with the keyboard, each step through the options is a choice. */
export function CheckedChoice({ chosen = "", action, onChoose, ...choice }: ChoiceParts & { action: string }) {
  const [next, setNext] = useState(chosen);
  return (
    <>
      <Choice {...choice} chosen={next} onChoose={setNext} />
      {next !== chosen && <Button onClick={() => onChoose(next)} text={action} />}
    </>
  );
}

type Sheets = { sheets: readonly string[]; chosen: string | undefined; onChoose: (sheet: string) => void };

export const SheetChoice = ({ sheets, ...choice }: Sheets) =>
  sheets.length > 1 && (
    <CheckedChoice label="Sheet" action="Check this sheet" options={sheets.map((name) => [name, name])} {...choice} />
  );

/** Columns by their numbers. */
export const optionsOf = (columns: readonly string[]) =>
  columns.map((name, i) => [String(i + 1), `${i + 1} ${name}`] as const);
