/** Where a list comes from: a file that is dropped or chosen, or pasted text. */
import { useState } from "preact/hooks";
import type { Kind } from "../../core/validator/validator.js";
import { words } from "./words.js";

export function Source({
  kind,
  onKind,
  onFile,
}: {
  kind: Kind;
  onKind: (kind: Kind) => void;
  onFile: (file: File) => void;
}) {
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
