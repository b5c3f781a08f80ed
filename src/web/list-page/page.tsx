/** The page that checks a list: state and view. The worker reads the file; the page shows and saves what it makes. */
import { type ComponentChildren, render } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { Head, Key } from "../../core/facts/render/parts.js";
import type { Kind } from "../../core/validator/validator.js";
import { grouped } from "../../text.js";
import type { Answer, BadRow, Checked, CheckOptions, PageTables, Request, SaveOptions } from "./messages.js";
import { type FaultCode, words } from "./words.js";

const rowsAtOnce = 25;

const textOf = (id: string): string => document.getElementById(id)?.textContent?.trim() ?? "";

let worker: Worker | undefined;
let address: string | undefined;
let onAnswer: (answer: Answer) => void = () => {};
let lastTask = 0;

/** Starts the worker, also after it has ended for want of memory. */
function start(): Worker {
  address ??= URL.createObjectURL(new Blob([textOf("worker")], { type: "text/javascript" }));
  const started = new Worker(address);
  const tables: PageTables = {
    disposable: textOf("disposable"),
    suffixes: textOf("suffixes"),
    kernel: textOf("kernel"),
  };
  started.postMessage({ type: "start", tables } satisfies Request);
  started.onmessage = ({ data }: MessageEvent<Answer>) => onAnswer(data);
  started.onerror = (event) => {
    event.preventDefault();
    started.terminate();
    worker = undefined;
    onAnswer({ task: lastTask, type: "fault", code: "memory", message: event.message ?? "", columns: [] });
  };
  return started;
}

function ask(request: Request): void {
  worker ??= start();
  worker.postMessage(request);
}

type State =
  | { readonly type: "empty"; readonly note?: "cancelled" }
  | { readonly type: "busy"; readonly rows: number; readonly share: number | undefined }
  | { readonly type: "done"; readonly checked: Checked; readonly task: number }
  | { readonly type: "fault"; readonly code: FaultCode; readonly message: string; readonly columns: readonly string[] };

type Saving = "no" | "busy" | { readonly name: string } | { readonly fault: FaultCode };

function Page() {
  const [state, setState] = useState<State>({ type: "empty" });
  const [kind, setKind] = useState<Kind>("email");
  const [file, setFile] = useState<File>();
  const [column, setColumn] = useState<number>();
  /** Those with items; none unless there are several. */
  const [sheets, setSheets] = useState<readonly string[]>([]);
  const [saving, setSaving] = useState<Saving>("no");
  const heading = useRef<HTMLHeadingElement>(null);
  const isSaving = useRef(false);

  useEffect(() => {
    onAnswer = (answer) => {
      if (answer.task !== lastTask) return;
      // A file that is saved shows no progress: the result stays.
      if (answer.type === "progress") setState((now) => (now.type === "done" ? now : { ...answer, type: "busy" }));
      else if (answer.type === "checked") {
        setState({ type: "done", checked: answer, task: answer.task });
        setColumn(answer.table.column);
        setSheets((known) => sheetsIn(answer.table, known));
      } else if (answer.type === "stopped") setState({ type: "empty", note: "cancelled" });
      else if (answer.type === "fault" && isSaving.current) {
        isSaving.current = false;
        setSaving({ fault: answer.code });
      } else if (answer.type === "fault")
        setState({ type: "fault", code: answer.code, message: answer.message, columns: answer.columns });
      else if (answer.type === "saved") {
        isSaving.current = false;
        download(answer.blob, answer.name);
        setSaving({ name: answer.name });
      } else download(answer.blob, `${file?.name ?? "list"}-report.html`);
    };
  }, [file]);

  // Screen readers go on with the result.
  useEffect(() => {
    if (state.type === "done" || state.type === "fault") heading.current?.focus();
  }, [state.type]);

  const check = (given: File, options: CheckOptions) => {
    if (given !== file) setSheets([]);
    setFile(given);
    setKind(options.kind);
    setColumn(options.column);
    setSaving("no");
    isSaving.current = false;
    setState({ type: "busy", rows: 0, share: undefined });
    ask({ type: "check", task: ++lastTask, file: given, options });
  };
  const save = (options: Omit<SaveOptions, "kind" | "column">) => {
    setSaving("busy");
    isSaving.current = true;
    ask({ type: "save", task: ++lastTask, file: file!, options: { kind, column, ...options } });
  };

  return (
    <>
      <header class="head">
        <h1>{words.title}</h1>
      </header>
      <main>
        <p class="promise">
          <b>{words.promise}</b>
          {words.promiseDetails}
        </p>
        {(state.type === "empty" || state.type === "fault") && (
          <>
            {state.type === "fault" && (
              <section class="fault" role="alert">
                <h2 ref={heading} tabIndex={-1}>
                  {words.faults[state.code]}
                </h2>
                {state.message !== "" && <p class="note">{state.message}</p>}
                {state.columns.length > 0 && (
                  <ColumnChoice
                    label={words.chooseColumn}
                    columns={state.columns}
                    chosen={undefined}
                    onChoose={(chosen) => check(file!, { kind, column: chosen })}
                  />
                )}
              </section>
            )}
            {state.type === "empty" && state.note && (
              <p class="good" role="status">
                {words.cancelled}
              </p>
            )}
            <Source kind={kind} onKind={setKind} onFile={(given) => check(given, { kind })} />
          </>
        )}
        {state.type === "busy" && <Busy {...state} />}
        {state.type === "done" && (
          <Result
            key={state.task}
            name={file!.name}
            checked={state.checked}
            heading={heading}
            saving={saving}
            sheets={sheets}
            onChoose={(chosen) => check(file!, { kind, ...chosen })}
            onSave={save}
            onReport={() => ask({ type: "report", task: lastTask })}
            onAnother={() => setState({ type: "empty" })}
          />
        )}
      </main>
    </>
  );
}

function download(blob: Blob, name: string): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  // The browser has to open it first.
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}

function Source({ kind, onKind, onFile }: { kind: Kind; onKind: (kind: Kind) => void; onFile: (file: File) => void }) {
  const [isOver, setOver] = useState(false);
  const [text, setText] = useState("");
  return (
    <>
      <fieldset class="kinds">
        <legend>{words.kind}</legend>
        {(["email", "domain"] as const).map((each) => (
          <label key={each} class="check">
            <input type="radio" name="kind" checked={each === kind} onChange={() => onKind(each)} />
            {words.kinds[each]}
          </label>
        ))}
      </fieldset>
      {/* biome-ignore lint/a11y/noStaticElementInteractions: the button inside does the same by keyboard. */}
      <div
        class={isOver ? "drop over" : "drop"}
        onDragOver={(event) => {
          event.preventDefault();
          setOver(true);
        }}
        onDragLeave={() => setOver(false)}
        onDrop={(event) => {
          event.preventDefault();
          setOver(false);
          const dropped = event.dataTransfer?.files[0];
          if (dropped) onFile(dropped);
        }}
      >
        <p class="big">{words.drop}</p>
        <p>
          <input
            id="file"
            type="file"
            onChange={({ currentTarget }) => {
              const chosen = currentTarget.files?.[0];
              if (chosen) onFile(chosen);
            }}
          />
          <label class="button" for="file">
            {words.choose}
          </label>
        </p>
        <p class="hint">{words.formats}</p>
      </div>
      <details class="paste">
        <summary>{words.paste}</summary>
        <label>
          {words.paste} <span class="hint">{words.pasteHint}</span>
          <textarea
            value={text}
            spellcheck={false}
            autocomplete="off"
            onInput={({ currentTarget }) => setText(currentTarget.value)}
          />
        </label>
        <div class="actions">
          <button type="button" onClick={() => onFile(new File([text], "list.txt"))}>
            {words.check}
          </button>
        </div>
      </details>
    </>
  );
}

function Busy({ rows, share }: { rows: number; share: number | undefined }) {
  return (
    <section class="box">
      <p role="status">{rows === 0 ? words.opening : words.rowsSoFar(grouped(rows))}</p>
      <progress aria-label={words.progress} {...(share !== undefined && { value: share })} />
      <div class="actions">
        <button type="button" class="danger" onClick={() => ask({ type: "stop" })}>
          {words.cancel}
        </button>
      </div>
    </section>
  );
}

function SheetChoice({
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
          <option key={name}>{name}</option>
        ))}
      </select>
    </label>
  );
}

function ColumnChoice({
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

/** A sheet that was named comes without the others. */
const sheetsIn = ({ sheet, otherSheets }: Checked["table"], known: readonly string[]): readonly string[] =>
  otherSheets.length === 0 ? known : [sheet!, ...otherSheets];

const codeOf = (reason: string): string => reason.split(":")[0]!;

function Result({
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

const Section = ({ heading, children }: { heading: string; children: ComponentChildren }) => (
  <section>
    <h2>{heading}</h2>
    {children}
  </section>
);

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
    <section class="box options">
      <h2>{words.saveHeading}</h2>
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
    </section>
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

// A file that misses its place would replace the page.
for (const type of ["dragover", "drop"]) addEventListener(type, (event) => event.preventDefault());
if (location.protocol.startsWith("http") && "serviceWorker" in navigator) {
  navigator.serviceWorker.register("service-worker.js").catch(() => {});
}
render(<Page />, document.body);
