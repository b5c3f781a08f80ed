/** The list of keys, the form for a new key, and the page that shows its secret, once. */
import type { ComponentChildren } from "preact";
import { Section } from "../../../core/facts/render/parts.js";
import type { ApiKey } from "../../../state/service/api-key.js";
import { isUsable } from "../../../state/service/rules.js";
import { grouped } from "../../../text.js";
import { CardTable } from "./card-table.js";
import { Check, Choice, Field, type RefusedForm } from "./field.js";
import { KeyFields } from "./key-fields.js";
import { FaultBox, nameOfKey, Page, QuotaMeter, Renewal, Time } from "./layout.js";

export const keySorts = ["name", "used", "last used", "created"] as const;

export interface KeyQuery {
  /** Part of a name, an id, a quota or the end of a secret. */
  readonly search: string;
  readonly show: "usable" | "ended" | "all";
  readonly sort: (typeof keySorts)[number];
  readonly page: number;
}

interface KeysProperties {
  readonly keys: readonly ApiKey[];
  readonly query: KeyQuery;
  /** A form that is sent twice creates one key. */
  readonly nextId: string;
  readonly refused: RefusedForm | undefined;
  readonly now: number;
}

const keysOnPage = 25;

const compare: Readonly<Record<KeyQuery["sort"], (a: ApiKey, b: ApiKey) => number>> = {
  name: (a, b) => a.name.localeCompare(b.name, "en", { numeric: true }),
  used: (a, b) => b.quota.used - a.quota.used,
  "last used": (a, b) => (b.lastUsed ?? 0) - (a.lastUsed ?? 0),
  created: (a, b) => b.created - a.created,
};

function foundIn(keys: readonly ApiKey[], { search, show, sort }: KeyQuery, now: number): readonly ApiKey[] {
  const text = search.toLowerCase();
  return keys
    .filter((key) => show === "all" || isUsable(key, now) === (show === "usable"))
    .filter(({ id, name, quotaName, secrets }) =>
      [id, name, quotaName ?? "", ...secrets.map(({ hint }) => hint)].some((each) => each.toLowerCase().includes(text)),
    )
    .sort(compare[sort]);
}

export function keysPage({ keys, query, nextId, refused, now }: KeysProperties) {
  const found = foundIn(keys, query, now);
  const pages = Math.max(1, Math.ceil(found.length / keysOnPage));
  const page = Math.min(query.page, pages);
  const link = (page: number) =>
    `/dashboard/keys?${new URLSearchParams({ ...query, page: String(page) } as Record<string, string>)}`;
  return (
    <Page title="Keys" current="/dashboard/keys">
      {refused !== undefined && <FaultBox text={refused.fault} />}
      {keys.length === 0 ? (
        <p class="empty-state">
          No keys yet: <a href="#create">create one</a> below.
        </p>
      ) : (
        <>
          <p>
            <a class="button" href="#create">
              Create API key
            </a>
          </p>
          <form method="get" action="/dashboard/keys" class="search">
            <Field
              label="Search"
              hint="name, id, quota, or end of a secret"
              type="search"
              name="search"
              value={query.search}
              maxLength={100}
            />
            <Choice label="Show" name="show" options={["usable", "ended", "all"]} chosen={query.show} />
            <Choice label="Sort by" name="sort" options={keySorts} chosen={query.sort} />
            <button type="submit">Show</button>
          </form>
          {found.length === 0 ? (
            <p class="empty-state">No such keys.</p>
          ) : (
            <KeyTable keys={found.slice((page - 1) * keysOnPage, page * keysOnPage)} />
          )}
          <p class="pages">
            {grouped(found.length)} {found.length === 1 ? "key" : "keys"}
            {pages > 1 && `, page ${page} of ${pages}`}
            {page > 1 && <a href={link(page - 1)}>Previous</a>}
            {page < pages && <a href={link(page + 1)}>Next</a>}
          </p>
        </>
      )}
      <Section heading="Create API key" id="create">
        <form method="post" action="/dashboard/keys" class="box">
          <input type="hidden" name="id" value={nextId} />
          <KeyFields refused={refused}>
            <Field
              label="Shared quota"
              hint="its name, if shared"
              name="quota"
              value={refused?.form.get("quota") ?? ""}
              fault={refused?.field === "quota" ? refused.fault : undefined}
              maxLength={100}
            />
            <Check
              name="sandbox"
              text="Sandbox: made-up answers for tests, free of charge"
              checked={refused?.form.has("sandbox")}
            />
          </KeyFields>
          <div class="actions">
            <button type="submit">Create API key</button>
          </div>
        </form>
      </Section>
    </Page>
  );
}

const KeyTable = ({ keys }: { keys: readonly ApiKey[] }) => (
  <CardTable
    rows={keys}
    columns={[
      [
        "Name",
        ({ id, name, isSandbox, revoked }) => (
          <>
            <a href={`/dashboard/keys/${id}`}>{name || id}</a>
            {isSandbox && " (sandbox)"}
            {revoked !== null && " (revoked)"}
          </>
        ),
        "name",
      ],
      ["Secret", ({ secrets }) => <code class="whole">{secrets[0]?.hint || "-"}</code>],
      ["Permissions", ({ permissions }) => permissions.join(", ")],
      [
        "Used",
        ({ quota, quotaName }) => (
          <>
            <QuotaMeter quota={quota} />
            {quotaName !== null && <span class="hint">shared: {quotaName}</span>}
          </>
        ),
      ],
      ["Renews", ({ quota }) => <Renewal quota={quota} />],
      ["Last used", ({ lastUsed }) => <Time at={lastUsed} />],
      ["Expires", ({ expires }) => <Time at={expires} />],
    ]}
  />
);

/** The button appears only where scripts run. */
const Copyable = ({ text, children }: { text: string; children?: ComponentChildren }) => (
  <div class="secret">
    <code>{children ?? text}</code>
    <button type="button" data-copy={text} hidden>
      Copy
    </button>
  </div>
);

export function secretPage(title: string, key: ApiKey, secret: string, baseUrl: string) {
  const path = key.permissions.includes("emails") ? "emails" : "domains";
  const item = path === "emails" ? "ann.lee@gmial.com" : "mailinator.com";
  const curl = `curl ${baseUrl}/${path}/validate -H 'Authorization: Bearer ${secret}' -H 'Content-Type: application/json' -d '{"${path}": ["${item}"]}'`;
  const login = `printf %s '${secret}' | idv login --base-url ${baseUrl}`;
  return (
    <Page title={title} current="/dashboard/keys">
      <p class="good">The secret of {nameOfKey(key)} is shown only now. Keep it in a vault: only its hash is stored.</p>
      <Copyable text={secret} />
      <Section heading="Try it with curl">
        <Copyable text={curl} />
      </Section>
      <Section heading="Keep it for idv on the command line">
        <Copyable text={login} />
      </Section>
      <p class="actions">
        <a href={`/dashboard/keys/${key.id}`}>To the key</a>
      </p>
    </Page>
  );
}
