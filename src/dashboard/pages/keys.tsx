/** The list of keys, the form for a new key, and the page that shows its secret, once. */
import type { ComponentChildren } from "preact";
import type { ApiKey } from "../../store/state/service-store.js";
import { FaultBox, QuotaMeter, Renewal, renderPage, Time } from "./layout.js";

interface KeysProperties {
  readonly keys: readonly ApiKey[];
  /** A form that is sent twice creates one key. */
  readonly nextId: string;
  readonly fault?: string;
}

export const keysPage = ({ keys, nextId, fault }: KeysProperties): string =>
  renderPage({
    title: "Keys",
    current: "/dashboard/keys",
    children: (
      <>
        {fault !== undefined && <FaultBox text={fault} />}
        {keys.length === 0 ? (
          <p class="empty-state">
            No keys yet: <a href="#create">create one</a> below.
          </p>
        ) : (
          <KeyTable keys={keys} />
        )}
        <section id="create" class="change">
          <h2>Create API key</h2>
          <CreateForm nextId={nextId} />
        </section>
      </>
    ),
  });

const KeyTable = ({ keys }: { keys: readonly ApiKey[] }) => (
  <section>
    <table class="cards-table">
      <thead>
        <tr>
          {["Name", "Secret", "Permissions", "Used", "Renews", "Last used", "Expires"].map((name) => (
            <th key={name} scope="col">
              {name}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {keys.map((key) => (
          <tr key={key.id}>
            <td class="name">
              <a href={`/dashboard/keys/${key.id}`}>{key.name || key.id}</a>
              {key.isSandbox && " (sandbox)"}
              {key.revoked !== null && " (revoked)"}
            </td>
            <td data-label="Secret">
              <code>{key.secrets[0]?.hint || "-"}</code>
            </td>
            <td data-label="Permissions">{key.permissions.join(", ")}</td>
            <td data-label="Used">
              <QuotaMeter quota={key.quota} />
              {key.quotaName !== null && <span class="hint">shared: {key.quotaName}</span>}
            </td>
            <td data-label="Renews">
              <Renewal quota={key.quota} />
            </td>
            <td data-label="Last used">{key.lastUsed === null ? "never" : <Time at={key.lastUsed} />}</td>
            <td data-label="Expires">{key.expires === null ? "never" : <Time at={key.expires} />}</td>
          </tr>
        ))}
      </tbody>
    </table>
  </section>
);

const CreateForm = ({ nextId }: { nextId: string }) => (
  <form method="post" action="/dashboard/keys" class="box">
    <input type="hidden" name="id" value={nextId} />
    <div class="fields">
      <label>
        Name <span class="hint">what the key is for</span>
        <input name="name" required maxLength={100} autocomplete="off" />
      </label>
      <label>
        Limit <span class="hint">units a period; empty for none</span>
        <input name="limit" inputMode="numeric" pattern="[0-9]{1,15}" />
      </label>
      <PeriodField period="month" />
      <RateField />
      <label>
        Expires <span class="hint">empty for never</span>
        <input type="date" name="expires" />
      </label>
      <label>
        Shared quota <span class="hint">its name; empty for one of its own</span>
        <input name="quota" maxLength={100} autocomplete="off" />
      </label>
      <PermissionFields permissions={["emails", "domains"]} />
      <label class="check">
        <input type="checkbox" name="sandbox" value="yes" />
        Sandbox: made-up answers for tests, free of charge
      </label>
    </div>
    <div class="actions">
      <button type="submit">Create API key</button>
    </div>
  </form>
);

export const PeriodField = ({ period }: { period: string }) => (
  <label>
    Period <span class="hint">of the UTC calendar</span>
    <select name="period">
      {["none", "hour", "day", "month"].map((name) => (
        <option key={name} selected={name === period}>
          {name}
        </option>
      ))}
    </select>
  </label>
);

/** Lengths of rates in milliseconds. */
export const rateTimes = ["1000", "60000", "3600000"] as const;
const rateNames = ["second", "minute", "hour"];

export const RateField = ({ rate = null }: { rate?: ApiKey["rate"] }) => (
  <>
    <label>
      Requests <span class="hint">at most; empty for any number</span>
      <input name="rate" inputMode="numeric" pattern="[0-9]{1,9}" value={rate?.requests ?? ""} />
    </label>
    <label>
      in a
      <select name="rate_time">
        {rateTimes.map((time, i) => (
          <option key={time} value={time} selected={rate?.milliseconds === Number(time)}>
            {rateNames[i]}
          </option>
        ))}
      </select>
    </label>
  </>
);

export const PermissionFields = ({ permissions }: Pick<ApiKey, "permissions">) => (
  <fieldset>
    <legend>Permissions</legend>
    {(["emails", "domains"] as const).map((name) => (
      <label key={name} class="check">
        <input type="checkbox" name="permissions" value={name} checked={permissions.includes(name)} />
        {name}
      </label>
    ))}
  </fieldset>
);

/** The button appears only where scripts run. */
export const Copyable = ({ text, children }: { text: string; children?: ComponentChildren }) => (
  <div class="secret">
    <code>{children ?? text}</code>
    <button type="button" data-copy={text} hidden>
      Copy
    </button>
  </div>
);

/** The secret is not stored and cannot be shown again. */
export function secretPage(title: string, key: ApiKey, secret: string, baseUrl: string): string {
  const path = key.permissions.includes("emails") ? "emails" : "domains";
  const item = path === "emails" ? "ann.lee@gmial.com" : "mailinator.com";
  const curl = `curl ${baseUrl}/${path}/validate -H 'Authorization: Bearer ${secret}' -H 'Content-Type: application/json' -d '{"${path}": ["${item}"]}'`;
  const login = `printf %s '${secret}' | idv login --base-url ${baseUrl}`;
  return renderPage({
    title,
    current: "/dashboard/keys",
    children: (
      <>
        <p class="good">
          The secret of {key.name || key.id} is shown only now. Keep it in a vault: only its hash is stored.
        </p>
        <Copyable text={secret} />
        <section>
          <h2>Try it with curl</h2>
          <Copyable text={curl} />
        </section>
        <section>
          <h2>Keep it for idv on the command line</h2>
          <Copyable text={login} />
        </section>
        <p class="actions">
          <a href={`/dashboard/keys/${key.id}`}>To the key</a>
        </p>
      </>
    ),
  });
}
