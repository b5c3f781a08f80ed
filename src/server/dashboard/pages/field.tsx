/** A field of a form, with its fault beside it. */

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
  value = "",
  isDate = false,
  ...input
}: {
  label: string;
  hint: string;
  name: string;
  form: URLSearchParams | undefined;
  fault: string | undefined;
  value?: string;
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
    value: form?.get(name) ?? value,
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
