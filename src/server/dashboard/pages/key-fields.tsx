/** The fields of the forms that make and change a key. */
import type { ComponentChildren } from "preact";
import { periods } from "../../../state/quota/period.js";
import { type ApiKey, permissions } from "../../../state/service/api-key.js";
import { dayName } from "../usage-spans.js";
import { Check, Choice, Field, type RefusedForm } from "./field.js";

export const rateTimes = ["1000", "60000", "3600000"] as const;
const rateNames = ["second", "minute", "hour"];

/** Returns the form of a key as it is, or of a new one. */
export function formOf(key?: ApiKey): URLSearchParams {
  return new URLSearchParams([
    ["name", key?.name ?? ""],
    ["limit", String(key?.quota.limit ?? "")],
    ["period", key?.quota.period ?? "month"],
    ["rate", String(key?.rate?.requests ?? "")],
    ["rate_time", String(key?.rate?.milliseconds ?? 1000)],
    ["expires", key?.expires == null ? "" : dayName(key.expires)],
    ...(key?.permissions ?? permissions).map((each): [string, string] => ["permissions", each]),
  ]);
}

type KeyParts = { keyOf?: ApiKey; refused: RefusedForm | undefined; children?: ComponentChildren };

/** With what the key has, or what was sent in a refused form. `children` come before the permissions. */
export function KeyFields({ keyOf: key, refused, children }: KeyParts) {
  const form = refused?.form ?? formOf(key);
  const given = form.getAll("permissions");
  const faultOf = (name: string) => (refused?.field === name ? refused.fault : undefined);
  const field = (name: string) => ({ name, value: form.get(name) ?? "", fault: faultOf(name) });
  const digits = (most: number) =>
    ({ inputMode: "numeric", pattern: `[0-9]{1,${most}}`, title: "digits only, such as 10000" }) as const;
  return (
    <div class="fields">
      <Field {...field("name")} label="Name" hint="what the key is for" required maxLength={100} />
      <Field {...field("limit")} label="Limit" hint="units; empty for none" {...digits(15)} />
      <Choice label="Period" hint="of the UTC calendar" name="period" options={periods} chosen={form.get("period")} />
      <div class="pair">
        <Field {...field("rate")} label="Max. requests" {...digits(9)} />
        <Choice
          label="per"
          name="rate_time"
          options={rateTimes.map((time, i) => [time, rateNames[i]!])}
          chosen={form.get("rate_time")}
        />
      </div>
      <Field {...field("expires")} label="Expires" hint="day (UTC); empty for never" type="date" />
      {children}
      <fieldset>
        <legend>Permissions</legend>
        {permissions.map((name) => (
          <Check key={name} name="permissions" value={name} text={name} checked={given.includes(name)} />
        ))}
        {faultOf("permissions") !== undefined && <span class="at-field">{faultOf("permissions")}</span>}
      </fieldset>
    </div>
  );
}
