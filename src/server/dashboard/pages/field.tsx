/** Parts of forms: fields with their labels, and the button that ends something. */
import type { ComponentProps } from "preact";

export interface RefusedForm {
  readonly fault: string;
  readonly field?: string | undefined;
  readonly form: URLSearchParams;
  /** Whether the key has too few units for a list, which the form may accept. */
  readonly isShort?: boolean;
}

type Labelled = { readonly label: string; readonly hint?: string | undefined };

const Caption = ({ label, hint }: Labelled) => (
  <>
    {label} {hint !== undefined && <span class="hint">{hint}</span>}
  </>
);

type FieldParts = Labelled & ComponentProps<"input"> & { name: string; fault?: string | undefined };

export const Field = ({ label, hint, fault, ...input }: FieldParts) => (
  <label>
    <Caption label={label} hint={hint} />
    <input
      autocomplete="off"
      {...input}
      {...(fault !== undefined && { autofocus: true, "aria-invalid": true, "aria-describedby": `fault-${input.name}` })}
    />
    {fault !== undefined && (
      <span class="at-field" id={`fault-${input.name}`}>
        {fault}
      </span>
    )}
  </label>
);

interface ChoiceParts extends Labelled {
  name: string;
  options: readonly (string | readonly [value: string, text: string])[];
  /** The first one without it. */
  chosen: string | null | undefined;
}

export const Choice = ({ label, hint, name, options, chosen }: ChoiceParts) => (
  <label>
    <Caption label={label} hint={hint} />
    <select name={name}>
      {options.map((option) => {
        const [value, text] = typeof option === "string" ? [option, option] : option;
        return (
          <option key={value} value={value} selected={value === chosen}>
            {text}
          </option>
        );
      })}
    </select>
  </label>
);

type CheckParts = { text: string; type?: "radio"; name: string; value?: string; checked: boolean | undefined };

export const Check = ({ text, ...input }: CheckParts) => (
  <label class="check">
    <input type="checkbox" value="yes" {...input} />
    {text}
  </label>
);

export const EndForm = ({ action, id, what }: { action: string; id: string; what: string }) => (
  <form method="post" action={action} class="inline">
    <input type="hidden" name="id" value={id} />
    <button type="submit" class="quiet" aria-label={`End now: ${what}`}>
      End now
    </button>
  </form>
);
