/** Parts of forms: a field with its fault beside it, and the button that ends something. */

export interface RefusedForm {
  readonly fault: string;
  readonly field?: string | undefined;
  readonly form: URLSearchParams;
}

export function Field({
  label,
  hint,
  name,
  form,
  fault,
  isDate = false,
  ...input
}: {
  label: string;
  hint: string;
  name: string;
  form: URLSearchParams | undefined;
  fault: string | undefined;
  isDate?: boolean;
  inputMode?: "numeric";
  pattern?: string;
  required?: boolean;
  maxLength?: number;
}) {
  const isBad = fault !== undefined;
  const common = {
    id: `field-${name}`,
    name,
    value: form?.get(name) ?? "",
    autocomplete: "off",
    ...(isBad && { "aria-invalid": true as const, "aria-describedby": `fault-${name}` }),
  } as const;
  return (
    <label for={`field-${name}`}>
      {label} <span class="hint">{hint}</span>
      {isDate ? <input type="date" {...common} /> : <input {...common} {...input} />}
      {isBad && (
        <span class="at-field" id={`fault-${name}`}>
          {fault}
        </span>
      )}
    </label>
  );
}

export const EndForm = ({ action, id, what }: { action: string; id: string; what: string }) => (
  <form method="post" action={action} class="inline">
    <input type="hidden" name="id" value={id} />
    <button type="submit" class="quiet" aria-label={`End now: ${what}`}>
      End now
    </button>
  </form>
);
