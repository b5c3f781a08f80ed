/** The page of a key: its usage, and the forms that change it. */
import { Section, Terms } from "../../../core/facts/render/parts.js";
import type { ApiKey } from "../../../state/service/api-key.js";
import type { Span } from "../usage-spans.js";
import { CardTable, endColumn } from "./card-table.js";
import { UsageChart } from "./chart.js";
import { Choice, EndForm, Field, type RefusedForm } from "./field.js";
import { formOf, KeyFields } from "./key-fields.js";
import { FaultBox, nameOfKey, Page, QuotaMeter, Renewal, Time } from "./layout.js";

interface KeyProperties {
  readonly key: ApiKey;
  /** A form that is sent twice creates one secret. */
  readonly nextSecretId: string;
  readonly days: readonly Span[];
  readonly hours: readonly Span[];
  readonly fault?: string;
  readonly refused?: RefusedForm | undefined;
  readonly done?: string;
}

export const keyPage = ({ key, nextSecretId, days, hours, refused, fault = refused?.fault, done }: KeyProperties) => (
  <Page title={nameOfKey(key)} current="/dashboard/keys">
    {fault !== undefined && <FaultBox text={fault} />}
    {done !== undefined && <p class="good">{done}</p>}
    <section>
      <Terms
        terms={[
          ["Id", <code key="id">{key.id}</code>],
          ["Kind", key.isSandbox ? "sandbox: made-up answers, free of charge" : "live"],
          ["Secret", <code key="hint">{key.secrets[0]?.hint || "-"}</code>],
          ["Permissions", key.permissions.join(", ")],
          ["Used", <QuotaMeter key="quota" quota={key.quota} />],
          ["Quota", key.quotaName === null ? "its own" : `shared: ${key.quotaName}`],
          ...(key.rate === null
            ? []
            : [["Requests", `at most ${key.rate.requests} in ${key.rate.milliseconds / 1000} s`] as const]),
          ["Renews", <Renewal key="renewal" quota={key.quota} />],
          ["Created", <Time key="created" at={key.created} />],
          ["Last used", <Time key="lastUsed" at={key.lastUsed} />],
          ["Expires", <Time key="expires" at={key.expires} />],
          ...(key.revoked === null ? [] : [["Revoked", <Time key="revoked" at={key.revoked} />] as const]),
        ]}
      />
    </section>
    <Section heading="30 days">
      <UsageChart spans={days} />
    </Section>
    <Section heading="48 hours">
      <UsageChart spans={hours} unit="hour" />
    </Section>
    {key.revoked === null && (
      <>
        {key.secrets.length > 1 && (
          <Section heading="Secrets">
            <CardTable
              rows={key.secrets}
              columns={[
                ["Secret", ({ id, hint }) => <code>{hint || id}</code>],
                ["Created", ({ created }) => <Time at={created} />],
                ["Works until", ({ ends }) => <Time at={ends} never="rotated or revoked" />],
                [
                  endColumn,
                  ({ id, hint, ends }) =>
                    ends !== null && (
                      <EndForm action={`/dashboard/keys/${key.id}/end`} id={id} what={`secret ${hint || id}`} />
                    ),
                ],
              ]}
            />
          </Section>
        )}
        <Section heading="Change">
          <form method="post" action={`/dashboard/keys/${key.id}/set`} class="box">
            {/* Only what differs from it is changed. */}
            <input type="hidden" name="was" value={formOf(key).toString()} />
            <KeyFields keyOf={key} refused={refused} />
            {key.quotaName !== null && (
              <p class="note">Limit and period are those of the quota {key.quotaName}, for all of its keys.</p>
            )}
            <div class="actions">
              <button type="submit">Save</button>
            </div>
          </form>
        </Section>
        <div class="columns">
          <Section heading="New secret">
            <form method="post" action={`/dashboard/keys/${key.id}/rotate`} class="box">
              <input type="hidden" name="id" value={nextSecretId} />
              <Choice
                label="The old secret works"
                name="grace"
                options={[
                  ["0", "no longer"],
                  ["1", "for 1 hour"],
                  ["24", "for 24 hours"],
                  ["168", "for 7 days"],
                ]}
                chosen="24"
              />
              <div class="actions">
                <button type="submit">Rotate</button>
              </div>
            </form>
          </Section>
          <Section heading="Revoke">
            <form method="post" action={`/dashboard/keys/${key.id}/revoke`} class="box">
              <Field label="Name of the key" hint={`to be sure: ${nameOfKey(key)}`} name="name" required />
              <div class="actions">
                <button type="submit" class="danger">
                  Revoke
                </button>
              </div>
            </form>
          </Section>
        </div>
      </>
    )}
  </Page>
);
