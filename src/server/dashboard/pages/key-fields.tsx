/** The fields of the forms that make and change a key. */
import type { ComponentChildren } from "preact";
import type { ApiKey } from "../../../state/service/api-key.js";
import { Field, type RefusedForm } from "./field.js";

export const rateTimes = ["1000", "60000", "3600000"] as const;
const rateNames = ["second", "minute", "hour"];
const textOf = (number: number | null | undefined): string => (number == null ? "" : String(number));

/** Returns the form of a key as it is, or of a new one. */
export function formOf(key?: ApiKey): URLSearchParams {
  return new URLSearchParams([
    ["name", key?.name ?? ""],
    ["limit", textOf(key?.quota.limit)],
    ["period", key?.quota.period ?? "month"],
    ["rate", textOf(key?.rate?.requests)],
    ["rate_time", textOf(key?.rate?.milliseconds ?? 1000)],
    ["expires", key?.expires == null ? "" : new Date(key.expires).toISOString().slice(0, 10)],
    ...(key?.permissions ?? ["emails", "domains"]).map((each): [string, string] => ["permissions", each]),
  ]);
}

/** With what the key has, or what was sent in a refused form. `children` come before the permissions. */
export function KeyFields({
  keyOf: key,
  refused,
  children,
}: {
  keyOf?: ApiKey;
  refused: RefusedForm | undefined;
  children?: ComponentChildren;
}) {
  const form = refused?.form ?? formOf(key);
  const faultOf = (name: string) => (refused?.field === name ? refused.fault : undefined);
  const field = (name: string) => ({ name, form, fault: faultOf(name) });
  const hints = { limit: "units; empty for none", rate: "at most", expires: "day (UTC); empty for never" };
  const digits = (most: number) => ({ inputMode: "numeric", pattern: `[0-9]{1,${most}}` }) as const;
  return (
    <div class="fields">
      <Field {...field("name")} label="Name" hint="what the key is for" required maxLength={100} />
      <Field {...field("limit")} label="Limit" hint={hints.limit} {...digits(15)} />
      <label>
        Period <span class="hint">of the UTC calendar</span>
        <select name="period">
          {["none", "hour", "day", "month"].map((name) => (
            <option key={name} selected={name === form.get("period")}>
              {name}
            </option>
          ))}
        </select>
      </label>
      <div class="pair">
        <Field {...field("rate")} label="Requests" hint={hints.rate} {...digits(9)} />
        <label>
          in a
          <select name="rate_time">
            {rateTimes.map((each, i) => (
              <option key={each} value={each} selected={each === form.get("rate_time")}>
                {rateNames[i]}
              </option>
            ))}
          </select>
        </label>
      </div>
      <Field {...field("expires")} label="Expires" hint={hints.expires} isDate />
      {children}
      <fieldset>
        <legend>Permissions</legend>
        {["emails", "domains"].map((name) => (
          <label key={name} class="check">
            <input
              type="checkbox"
              name="permissions"
              value={name}
              checked={form.getAll("permissions").includes(name)}
            />
            {name}
          </label>
        ))}
        {faultOf("permissions") !== undefined && <span class="at-field">{faultOf("permissions")}</span>}
      </fieldset>
    </div>
  );
}
