/** The try-it box: verdicts on up to a hundred lines, free of charge. */
import { Section } from "../../../core/facts/render/parts.js";
import { reasonText } from "../../../core/facts/words.js";
import type { Kind, Verdict } from "../../../core/validator/validator.js";
import { CardTable, Status } from "./card-table.js";
import { Check } from "./field.js";
import { FaultBox, Page } from "./layout.js";

interface TryProperties {
  readonly kind: Kind;
  readonly text: string;
  readonly lines: readonly { readonly item: string; readonly verdict: Verdict }[];
  readonly fault?: string;
}

const example = "ann.lee@gmial.com\ninfo@mailinator.com";

export const tryPage = ({ kind, text, lines, fault }: TryProperties) => (
  <Page title="Try it" current="/dashboard/try">
    <form method="post" action="/dashboard/try" class="box">
      <label>
        Items, one a line <span class="hint">at most 100; nothing is charged, nothing is kept</span>
        <textarea name="items" required spellcheck={false} autocomplete="off" placeholder={example}>
          {text}
        </textarea>
      </label>
      <KindChoice kind={kind} />
      <div class="actions">
        <button type="submit">Check</button>
      </div>
    </form>
    {fault !== undefined && <FaultBox text={fault} />}
    {lines.length > 0 && (
      <Section heading="Verdicts">
        <CardTable
          rows={lines}
          columns={[
            ["Item", ({ item }) => item, "name"],
            ["Status", ({ verdict: { status } }) => <Status status={status} />],
            ["Reason", ({ verdict: { reason } }) => (reason === undefined ? "-" : reasonText(reason)), "name"],
            ["Did you mean", ({ verdict: { suggestion } }) => suggestion ?? "-", "name"],
          ]}
        />
      </Section>
    )}
  </Page>
);

export const KindChoice = ({ kind }: { kind: Kind }) => (
  <fieldset>
    <legend class="hint">What the items are</legend>
    <Check type="radio" name="kind" value="email" text="e-mail addresses" checked={kind === "email"} />
    <Check type="radio" name="kind" value="domain" text="domains" checked={kind === "domain"} />
  </fieldset>
);
