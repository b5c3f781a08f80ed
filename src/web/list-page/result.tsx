/** The result of a check: what was found, repairs, saving, and the rows that are undeliverable or disposable. */
import { useMemo, useState } from "preact/hooks";
import { Head, Key, Section } from "../../core/facts/render/parts.js";
import { shownStatus } from "../../core/validator/statuses.js";
import { counted, grouped } from "../../text.js";
import { Button, CheckedChoice, Choice, optionsOf, SheetChoice } from "./controls.js";
import { type FaultCode, faults } from "./faults.js";
import type { BadRow, Checked, CheckOptions, SaveOptions } from "./messages.js";

const rowsAtOnce = 25;

export type Saving = "no" | "busy" | { readonly name: string } | { readonly fault: FaultCode };

const codeOf = (reason: string): string => reason.split(":")[0]!;

interface ResultParts {
  name: string;
  checked: Checked;
  heading: { current: HTMLHeadingElement | null };
  saving: Saving;
  sheets: readonly string[];
  onChoose: (chosen: Omit<CheckOptions, "kind">) => void;
  onSave: (options: Omit<SaveOptions, "kind" | "column">) => void;
  onReport: () => void;
  onAnother: () => void;
}

export function Result({ name, checked, heading, sheets, onChoose, onSave, onAnother, ...saved }: ResultParts) {
  const { table, facts, opening, parts, suggestions } = checked;
  const { rows, distinct, seconds } = facts;
  const [accepted, setAccepted] = useState<Accepted>(new Set());
  // Some suggestions are about other faults, such as a second @.
  const repaired = suggestions === facts.repairable ? "typo" : "row";
  const used = accepted === "all" ? suggestions : accepted.size;
  const column = table.columnName ? `${table.column} (${table.columnName})` : String(table.column);
  return (
    <>
      <p class="sub name">{name}</p>
      <h2 class="lead" ref={heading} tabIndex={-1}>
        {opening.lead}
      </h2>
      {opening.grade && <p class="grade">{opening.grade}</p>}
      {opening.worst && <p class="grade">{opening.worst}</p>}
      <p class="sub">
        {opening.details} Rows: {grouped(rows)}; distinct entries: {grouped(distinct)}; {seconds.toFixed(1)} s. Checked:
        column {column}.
      </p>
      <div class="tools">
        <SheetChoice sheets={sheets} chosen={table.sheet} onChoose={(sheet) => onChoose({ sheet })} />
        {table.columns.length > 1 && (
          <CheckedChoice
            label="Column"
            action="Check this column"
            options={optionsOf(table.columns)}
            chosen={String(table.column)}
            onChoose={(column) => onChoose({ column: Number(column), sheet: table.sheet })}
          />
        )}
        <Button onClick={onAnother} text="Check another file" />
      </div>
      <Html text={parts.result} />
      {suggestions > 0 && (
        <div class="tools line">
          <span>
            {counted(suggestions, repaired)} can be repaired
            {repaired === "row" && `, ${counted(facts.repairable, "mistyped domain")} among them`}:
          </span>
          <Button onClick={() => setAccepted("all")} text="Use all" />
          <Button class="quiet" onClick={() => setAccepted(new Set())} text="Use none" />
          <span role="status">{used > 0 && `${grouped(used)} used in the saved file`}</span>
        </div>
      )}
      <SaveBox
        broken={facts.badRows}
        onSave={(options) =>
          onSave({ ...options, sheet: table.sheet, fix: accepted === "all" ? "all" : [...accepted] })
        }
        {...saved}
      />
      <Html text={parts.details} />
      <BadRows checked={checked} accepted={accepted} onAccept={setAccepted} />
    </>
  );
}

/** Rendered by the worker, which escapes what comes from the file. */
const Html = ({ text }: { text: string }) => <div dangerouslySetInnerHTML={{ __html: text }} />;

interface SaveParts extends Pick<ResultParts, "saving" | "onReport"> {
  broken: number;
  onSave: (options: { onlyGood: boolean; withReasons: boolean }) => void;
}

function SaveBox({ broken, saving, onSave, onReport }: SaveParts) {
  const [onlyGood, setOnlyGood] = useState(false);
  const [withReasons, setWithReasons] = useState(true);
  return (
    <Section heading="Save" class="box options">
      <fieldset>
        <legend class="hint">Rows</legend>
        {[false, true].map((each) => (
          <label key={String(each)} class="check">
            <input type="radio" name="rows" checked={onlyGood === each} onChange={() => setOnlyGood(each)} />
            {each ? "only rows that are ok or alias" : "all rows, with their status"}
          </label>
        ))}
      </fieldset>
      <label class="check">
        <input
          type="checkbox"
          checked={withReasons}
          onChange={({ currentTarget }) => setWithReasons(currentTarget.checked)}
        />
        with reason and suggestion
      </label>
      {broken > 0 && (
        <p class="note">
          Broken rows, {onlyGood ? "which are left out" : "which stay unchanged"}: {grouped(broken)}
        </p>
      )}
      <div class="actions">
        <Button disabled={saving === "busy"} onClick={() => onSave({ onlyGood, withReasons })} text="Save the file" />
        <Button class="quiet" onClick={onReport} text="Save the report" />
      </div>
      <p class="note" role="status">
        {saving === "busy"
          ? "Making the file"
          : saving === "no"
            ? ""
            : "fault" in saving
              ? faults[saving.fault]
              : `Saved as ${saving.name}.`}
      </p>
    </Section>
  );
}

type Accepted = "all" | ReadonlySet<string>;
type BadRowsParts = { checked: Checked; accepted: Accepted; onAccept: (accepted: Accepted) => void };

function BadRows({ checked: { facts, badRows, suggestions }, accepted, onAccept }: BadRowsParts) {
  const all = (facts.statuses["fake"] ?? 0) + (facts.statuses["disposable"] ?? 0);
  const [filter, setFilter] = useState("");
  const [most, setMost] = useState(rowsAtOnce);
  const codes = useMemo(() => [...new Set(badRows.map(({ reason }) => codeOf(reason)))].sort(), [badRows]);
  const isShown = ({ reason, suggestion }: BadRow) =>
    filter === "" || (filter === "?" ? suggestion !== undefined : codeOf(reason) === filter);
  const found = useMemo(() => badRows.filter(isShown), [badRows, filter]);
  if (all === 0)
    return (
      <Section heading="Undeliverable and disposable rows">
        <p>None is undeliverable or disposable.</p>
      </Section>
    );
  const isAccepted = ({ item }: BadRow) => accepted === "all" || accepted.has(item);
  const toggle = (row: BadRow) => {
    const suggested = badRows.filter(({ suggestion }) => suggestion).map(({ item }) => item);
    const items = new Set(accepted === "all" ? suggested : accepted);
    if (!items.delete(row.item)) items.add(row.item);
    onAccept(items);
  };
  return (
    <Section heading="Undeliverable and disposable rows">
      <div class="tools">
        <Choice
          label="Show"
          options={[
            ["", "All of them"],
            ...(suggestions > 0 ? [["?", "With a suggestion"] as const] : []),
            ...codes.map((code) => [code, code] as const),
          ]}
          chosen={filter}
          onChoose={(chosen) => {
            setFilter(chosen);
            setMost(rowsAtOnce);
          }}
        />
      </div>
      <table class="bad">
        <caption>
          Shown: {grouped(Math.min(most, found.length))} of {grouped(all)}
        </caption>
        <Head columns={[{ number: "Line" }, "Entry", "Reason", "Did you mean"]} />
        <tbody>
          {found.slice(0, most).map((row, i) => (
            <tr key={`${i} ${row.line}`}>
              <td class="number">{row.line === undefined ? "" : grouped(row.line)}</td>
              <td class="name">{row.item}</td>
              <td>
                <Key className={row.status} />
                {shownStatus(row.status)}: {row.reason}
              </td>
              <td class="name">
                {row.suggestion}{" "}
                {row.suggestion !== undefined && (
                  <Button
                    aria-pressed={isAccepted(row)}
                    onClick={() => toggle(row)}
                    aria-label={`${isAccepted(row) ? "Used" : "Use it"}: ${row.suggestion}`}
                    text={isAccepted(row) ? "Used" : "Use it"}
                  />
                )}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {found.length > most && (
        <div class="actions">
          <Button onClick={() => setMost(most + rowsAtOnce)} text="Show more" />
        </div>
      )}
    </Section>
  );
}
