/** Where a list comes from: a file that is dropped or chosen, or pasted text. */
import { useState } from "preact/hooks";
import type { Kind } from "../../core/validator/validator.js";
import { Button } from "./controls.js";

interface SourceParts {
  kind: Kind;
  /** What was pasted; it stays if it cannot be checked. */
  text: string;
  onKind: (kind: Kind) => void;
  onText: (text: string) => void;
  onFile: (file: File) => void;
}

/** The page takes what is dropped, wherever that is. */
export function Source({ kind, text, onKind, onText, onFile }: SourceParts) {
  const [isOver, setOver] = useState(false);
  const [wasPasted] = useState(text !== "");
  return (
    <>
      <fieldset class="kinds">
        <legend>The list holds</legend>
        {(["email", "domain"] as const).map((each) => (
          <label key={each} class="check">
            <input type="radio" name="kind" checked={each === kind} onChange={() => onKind(each)} />
            {each === "email" ? "e-mail addresses" : "domains"}
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
        onDrop={() => setOver(false)}
      >
        <p class="big">Drop a file here</p>
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
            Choose a file
          </label>
        </p>
        <p class="hint">CSV, TSV, text, JSON, JSON Lines, Excel (.xlsx), vCard or LDIF, also as .gz</p>
      </div>
      <details class="paste" open={wasPasted}>
        <summary>Or paste addresses</summary>
        <label>
          Or paste addresses <span class="hint">one a line</span>
          <textarea
            value={text}
            spellcheck={false}
            autocomplete="off"
            onInput={({ currentTarget }) => onText(currentTarget.value)}
          />
        </label>
        <div class="actions">
          <Button onClick={() => onFile(new File([text], "list.txt"))} text="Check" />
        </div>
      </details>
    </>
  );
}
