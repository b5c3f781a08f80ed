/** The page that checks a list: state and view. The worker reads the file; the page shows and saves what it makes. */
import { render } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import type { Kind } from "../../core/validator/validator.js";
import { grouped } from "../../text.js";
import { Button, CheckedChoice, optionsOf, SheetChoice } from "./controls.js";
import { reasonOf, sentence } from "./faults.js";
import type { Answer, Checked, CheckOptions, Request, SaveOptions } from "./messages.js";
import { Result, type Saving } from "./result.js";
import { Source } from "./source.js";

const textOf = (id: string): string => document.getElementById(id)?.textContent?.trim() ?? "";

let worker: Worker | undefined;
let address: string | undefined;
let onAnswer: (answer: Answer) => void = () => {};
let lastTask = 0;

/** Starts the worker, also after it has ended for want of memory. */
function start(): Worker {
  address ??= URL.createObjectURL(new Blob([textOf("worker")], { type: "text/javascript" }));
  const started = new Worker(address);
  const tables = { disposable: textOf("disposable"), suffixes: textOf("suffixes"), kernel: textOf("kernel") };
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
  | Extract<Answer, { readonly type: "checked" | "fault" }>;

/** A sheet that was named comes without the others. */
const sheetsIn = ({ sheet, otherSheets }: Checked["table"], known: readonly string[]): readonly string[] =>
  otherSheets.length === 0 ? known : [sheet!, ...otherSheets];

function Page() {
  const [state, setState] = useState<State>({ type: "empty" });
  const [kind, setKind] = useState<Kind>("email");
  const [file, setFile] = useState<File>();
  const [column, setColumn] = useState<number>();
  /** The sheet that was chosen. */
  const [sheet, setSheet] = useState<string>();
  /** Those with items; none unless there are several. */
  const [sheets, setSheets] = useState<readonly string[]>([]);
  const [saving, setSaving] = useState<Saving>("no");
  const [pasted, setPasted] = useState("");
  const [leftOut, setLeftOut] = useState(0);
  const heading = useRef<HTMLHeadingElement>(null);
  const isSaving = useRef(false);

  useEffect(() => {
    onAnswer = (answer) => {
      if (answer.task !== lastTask) return;
      // A file that is saved shows no progress: the result stays.
      if (answer.type === "progress") setState((now) => (now.type === "checked" ? now : { ...answer, type: "busy" }));
      else if (answer.type === "checked") {
        setState(answer);
        setColumn(answer.table.column);
        setSheets((known) => sheetsIn(answer.table, known));
      } else if (answer.type === "stopped") setState({ type: "empty", note: "cancelled" });
      else if (answer.type === "fault" && isSaving.current) {
        isSaving.current = false;
        setSaving({ fault: answer.code });
      } else if (answer.type === "fault") setState(answer);
      else if (answer.type === "saved") {
        isSaving.current = false;
        download(answer.blob, answer.name);
        setSaving({ name: answer.name });
      } else download(answer.blob, `${file?.name ?? "list"}-report.html`);
    };
  }, [file]);

  // Screen readers go on with the result.
  useEffect(() => {
    if (state.type === "checked" || state.type === "fault") heading.current?.focus();
  }, [state.type]);

  // Also beside the box and over a result.
  useEffect(() => {
    const take = ({ dataTransfer }: DragEvent) => {
      const files = dataTransfer?.files ?? [];
      if (files.length === 0) return;
      check(files[0]!, { kind });
      setLeftOut(files.length - 1);
    };
    addEventListener("drop", take);
    return () => removeEventListener("drop", take);
  });

  const check = (given: File, options: CheckOptions) => {
    setLeftOut(0);
    if (given !== file) setSheets([]);
    setFile(given);
    setKind(options.kind);
    setColumn(options.column);
    setSheet(options.sheet);
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
        <h1>Check a list of e-mail addresses</h1>
      </header>
      <main>
        <p class="promise">
          <b>Your list stays on this computer.</b>
          The page sends nothing and keeps nothing of your list: it works without a network, too.
        </p>
        {leftOut > 0 && (
          <p class="note" role="status">
            One file is checked at a time; {grouped(leftOut)} more {leftOut === 1 ? "was" : "were"} dropped.
          </p>
        )}
        {(state.type === "empty" || state.type === "fault") && (
          <>
            {state.type === "fault" && (
              <section class="fault" role="alert">
                <h2 ref={heading} tabIndex={-1}>
                  {reasonOf(state)}
                </h2>
                {state.message !== "" && sentence(state.message) !== reasonOf(state) && (
                  <p class="note">{sentence(state.message)}</p>
                )}
                {state.columns.length > 0 && (
                  <CheckedChoice
                    label="Choose the column"
                    action="Check this column"
                    options={[["", ""], ...optionsOf(state.columns)]}
                    onChoose={(chosen) => check(file!, { kind, column: Number(chosen), sheet })}
                  />
                )}
                <SheetChoice
                  sheets={sheets}
                  chosen={sheet}
                  onChoose={(chosen) => check(file!, { kind, sheet: chosen })}
                />
              </section>
            )}
            {state.type === "empty" && state.note && (
              <p class="good" role="status">
                Stopped. The page is ready for another file.
              </p>
            )}
            <Source
              kind={kind}
              text={pasted}
              onKind={(chosen) => (state.type === "fault" && file ? check(file, { kind: chosen }) : setKind(chosen))}
              onText={setPasted}
              onFile={(given) => check(given, { kind })}
            />
          </>
        )}
        {state.type === "busy" && <Busy {...state} />}
        {state.type === "checked" && (
          <Result
            key={state.task}
            name={file!.name}
            checked={state}
            heading={heading}
            saving={saving}
            sheets={sheets}
            onChoose={(chosen) => check(file!, { kind, ...chosen })}
            onSave={save}
            onReport={() => ask({ type: "report", task: lastTask })}
            onAnother={() => {
              setState({ type: "empty" });
              setTimeout(() => document.getElementById("file")?.focus());
            }}
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

function Busy({ rows, share }: { rows: number; share: number | undefined }) {
  return (
    <section class="box">
      <p role="status">{rows === 0 ? "Opening the file" : `Rows checked: ${grouped(rows)}`}</p>
      <progress aria-label="Progress" {...(share !== undefined && { value: share })} />
      <div class="actions">
        <Button class="danger" onClick={() => ask({ type: "stop" })} text="Stop" />
      </div>
    </section>
  );
}

// A file that misses its place would replace the page.
for (const type of ["dragover", "drop"]) addEventListener(type, (event) => event.preventDefault());
if (location.protocol.startsWith("http") && "serviceWorker" in navigator) {
  navigator.serviceWorker.register("service-worker.js").catch(() => {});
}
render(<Page />, document.body);
