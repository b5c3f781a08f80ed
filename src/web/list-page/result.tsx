/** The result of a check: what was found, repairs, saving, and the rows that are fake or disposable. */
import { useMemo, useState } from "preact/hooks";
import { Head, Key, Section } from "../../core/facts/render/parts.js";
import { grouped } from "../../text.js";
import type { BadRow, Checked, CheckOptions, SaveOptions } from "./messages.js";
import { type FaultCode, words } from "./words.js";

const rowsAtOnce = 25;

export type Saving = "no" | "busy" | { readonly name: string } | { readonly fault: FaultCode };

export function SheetChoice({
  sheets,
  chosen,
  onChoose,
}: {
  sheets: readonly string[];
  chosen: string | undefined;
  onChoose: (sheet: string) => void;
}) {
  return (
    <label>
      {words.sheet}
      <select value={chosen ?? ""} onChange={({ currentTarget }) => onChoose(currentTarget.value)}>
        {sheets.map((name) => (
          <option key={name} value={name}>
            {name}
          </option>
        ))}
      </select>
    </label>
  );
}

export function ColumnChoice({
  label = words.column,
  columns,
  chosen,
  onChoose,
}: {
  label?: string;
  columns: readonly string[];
  chosen: number | undefined;
  onChoose: (column: number) => void;
}) {
  return (
    <label>
      {label}
      <select value={chosen ?? ""} onChange={({ currentTarget }) => onChoose(Number(currentTarget.value))}>
        {chosen === undefined && <option value="" />}
        {columns.map((name, i) => (
          <option key={`${i} ${name}`} value={i + 1}>
            {i + 1} {name}
          </option>
        ))}
      </select>
    </label>
  );
}

const codeOf = (reason: string): string => reason.split(":")[0]!;

export function Result({
  name,
  checked,
  heading,
  saving,
  sheets,
  onChoose,
  onSave,
  onReport,
  onAnother,
}: {
  name: string;
  checked: Checked;
  heading: { current: HTMLHeadingElement | null };
  saving: Saving;
  sheets: readonly string[];
  onChoose: (chosen: Omit<CheckOptions, "kind">) => void;
  onSave: (options: Omit<SaveOptions, "kind" | "column">) => void;
  onReport: () => void;
  onAnother: () => void;
}) {
  const { table, facts, opening, parts, badRows, suggestions } = checked;
  const { rows, distinct, seconds } = facts;
  const [accepted, setAccepted] = useState<"all" | ReadonlySet<string>>(new Set());
  const column = table.columnName ? `${table.column} (${table.columnName})` : String(table.column);
  return (
    <>
      <p class="sub name">{name}</p>
      <h2 class="lead" ref={heading} tabIndex={-1}>
        {opening.lead}
      </h2>
      {opening.grade && <p class="grade">{opening.grade}</p>}
      <p class="sub">
        {opening.details} {words.details(grouped(rows), grouped(distinct), seconds.toFixed(1))} {words.foundIn(column)}{" "}
        {facts.badRows > 0 && words.badLines(grouped(facts.badRows))}
      </p>
      <div class="tools">
        {sheets.length > 1 && (
          <SheetChoice sheets={sheets} chosen={table.sheet} onChoose={(sheet) => onChoose({ sheet })} />
        )}
        {table.columns.length > 1 && (
          <ColumnChoice
            columns={table.columns}
            chosen={table.column}
            onChoose={(column) => onChoose({ column, sheet: table.sheet })}
          />
        )}
        <button type="button" onClick={onAnother}>
          {words.another}
        </button>
      </div>
      <Html text={parts.result} />
      {suggestions > 0 && (
        <div class="tools">
          <button type="button" onClick={() => setAccepted("all")}>
            {words.acceptAll(grouped(suggestions))}
          </button>
          <button type="button" class="quiet" onClick={() => setAccepted(new Set())}>
            {words.acceptNone}
          </button>
        </div>
      )}
      <SaveBox
        accepted={accepted === "all" ? suggestions : accepted.size}
        saving={saving}
        onSave={(options) =>
          onSave({ ...options, sheet: table.sheet, fix: accepted === "all" ? "all" : [...accepted] })
        }
        onReport={onReport}
      />
      <Html text={parts.details} />
      <BadRows
        all={(facts.statuses["fake"] ?? 0) + (facts.statuses["disposable"] ?? 0)}
        badRows={badRows}
        suggestions={suggestions}
        accepted={accepted}
        onAccept={setAccepted}
      />
    </>
  );
}

/** Rendered by the worker, which escapes what comes from the file. */
const Html = ({ text }: { text: string }) => <div dangerouslySetInnerHTML={{ __html: text }} />;

function SaveBox({
  accepted,
  saving,
  onSave,
  onReport,
}: {
  accepted: number;
  saving: Saving;
  onSave: (options: { onlyGood: boolean; withReasons: boolean }) => void;
  onReport: () => void;
}) {
  const [onlyGood, setOnlyGood] = useState(false);
  const [withReasons, setWithReasons] = useState(true);
  return (
    <Section heading={words.saveHeading} class="box options">
      <fieldset>
        <legend class="hint">{words.rows}</legend>
        {[false, true].map((each) => (
          <label key={String(each)} class="check">
            <input type="radio" name="rows" checked={onlyGood === each} onChange={() => setOnlyGood(each)} />
            {each ? words.saveGood : words.saveAll}
          </label>
        ))}
      </fieldset>
      <label class="check">
        <input
          type="checkbox"
          checked={withReasons}
          onChange={({ currentTarget }) => setWithReasons(currentTarget.checked)}
        />
        {words.saveReasons}
      </label>
      {accepted > 0 && <p class="note">{words.accepted(grouped(accepted))}</p>}
      <div class="actions">
        <button type="button" disabled={saving === "busy"} onClick={() => onSave({ onlyGood, withReasons })}>
          {words.save}
        </button>
        <button type="button" class="quiet" onClick={onReport}>
          {words.report}
        </button>
      </div>
      <p class="note" role="status">
        {saving === "busy"
          ? words.saving
          : saving === "no"
            ? ""
            : "fault" in saving
              ? words.faults[saving.fault]
              : words.saved(saving.name)}
      </p>
    </Section>
  );
}

function BadRows({
  all,
  badRows,
  suggestions,
  accepted,
  onAccept,
}: {
  all: number;
  badRows: readonly BadRow[];
  suggestions: number;
  accepted: "all" | ReadonlySet<string>;
  onAccept: (accepted: "all" | ReadonlySet<string>) => void;
}) {
  const [filter, setFilter] = useState("");
  const [most, setMost] = useState(rowsAtOnce);
  const codes = useMemo(() => [...new Set(badRows.map(({ reason }) => codeOf(reason)))].sort(), [badRows]);
  const found = useMemo(
    () =>
      badRows.filter(({ reason, suggestion }) =>
        filter === "" ? true : filter === "?" ? suggestion !== undefined : codeOf(reason) === filter,
      ),
    [badRows, filter],
  );
  if (all === 0)
    return (
      <Section heading={words.rowsHeading}>
        <p>{words.noRows}</p>
      </Section>
    );
  const isAccepted = ({ item }: BadRow) => accepted === "all" || accepted.has(item);
  const toggle = (row: BadRow) => {
    const items = new Set(
      accepted === "all" ? badRows.filter(({ suggestion }) => suggestion).map(({ item }) => item) : accepted,
    );
    if (!items.delete(row.item)) items.add(row.item);
    onAccept(items);
  };
  return (
    <Section heading={words.rowsHeading}>
      <div class="tools">
        <label>
          {words.filter}
          <select
            value={filter}
            onChange={({ currentTarget }) => {
              setFilter(currentTarget.value);
              setMost(rowsAtOnce);
            }}
          >
            <option value="">{words.allRows}</option>
            {suggestions > 0 && <option value="?">{words.onlySuggestions}</option>}
            {codes.map((code) => (
              <option key={code} value={code}>
                {code}
              </option>
            ))}
          </select>
        </label>
      </div>
      <table class="bad">
        <caption>{words.rowsShown(grouped(Math.min(most, found.length)), grouped(all))}</caption>
        <Head columns={[{ number: words.line }, words.item, words.reason, words.suggestion]} />
        <tbody>
          {found.slice(0, most).map((row, i) => (
            <tr key={`${i} ${row.line}`}>
              <td class="number">{row.line === undefined ? "" : grouped(row.line)}</td>
              <td class="name">{row.item}</td>
              <td>
                <Key className={row.status} />
                {row.reason}
              </td>
              <td class="name">
                {row.suggestion}{" "}
                {row.suggestion !== undefined && (
                  <button type="button" aria-pressed={isAccepted(row)} onClick={() => toggle(row)}>
                    {words.accept}
                  </button>
                )}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {found.length > most && (
        <div class="actions">
          <button type="button" onClick={() => setMost(most + rowsAtOnce)}>
            {words.more}
          </button>
        </div>
      )}
    </Section>
  );
}
