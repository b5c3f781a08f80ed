/** All lists, and the form for another one. */
import type { Facts } from "../../../core/facts/facts.js";
import { Section } from "../../../core/facts/render/parts.js";
import type { StoredList } from "../../../state/service/lists.js";
import { counted, grouped, readFormats } from "../../../text.js";
import { day, hour } from "../../../time.js";
import { type DoneResult, doneResult } from "../../lists/list-facts.js";
import { CardTable } from "./card-table.js";
import { Field } from "./field.js";
import { FaultBox, Page, Time } from "./layout.js";
import { KindChoice } from "./try.js";

const path = "/dashboard/lists";

interface ListsFacts {
  readonly lists: readonly StoredList[];
  readonly names: ReadonlyMap<string, string>;
  readonly mostBytes: number;
  readonly keepMilliseconds: number;
}

export const listsPage = (facts: ListsFacts | undefined, fault?: string) => (
  <Page title="Lists" current={path}>
    {fault !== undefined && <FaultBox text={fault} />}
    {facts === undefined ? (
      <p class="empty-state">
        This server has no folder for lists. The operator starts it with <code>--lists FOLDER</code>, a folder that all
        of its servers share.
      </p>
    ) : (
      <>
        <form method="post" action={path} enctype="multipart/form-data" class="box" data-upload>
          <div class="fields">
            <KindChoice kind="email" />
            <Field label="Column" hint="its name or number, if it cannot be found" name="column" maxLength={100} />
          </div>
          <label class="drop">
            The list: choose a file, or drop it here{" "}
            <span class="hint">
              {readFormats}; at most {grouped(Math.floor(facts.mostBytes / 1_048_576))} MiB
            </span>
            <input type="file" name="list" required />
          </label>
          <div class="actions">
            <button type="submit">Send</button>
            <progress hidden aria-label="Sent" />
            <output />
          </div>
          <p class="note">
            Everybody who is signed in sees the lists. A list is removed {spanText(facts.keepMilliseconds)} after its
            check, or when you remove it. Nothing is charged before you say so.
          </p>
        </form>
        <Section heading="Lists on the service">
          <ListTable {...facts} />
        </Section>
      </>
    )}
  </Page>
);

const spans = [
  ["day", day],
  ["hour", hour],
  ["minute", 60_000],
] as const;

/** `2 days`, `1 hour`: in the largest unit of which there is one. */
function spanText(milliseconds: number): string {
  const [name, unit] = spans.find(([, unit]) => milliseconds >= unit) ?? ["second", 1000];
  return counted(Math.round(milliseconds / unit), name);
}

export const stateNames: Readonly<Record<StoredList["state"], string>> = {
  arriving: "arriving",
  found: "to be checked",
  waiting: "waiting",
  running: "being checked",
  done: "checked",
  failed: "not possible",
  removed: "removed",
  gone: "removed",
};

const rowsOf = ({ found, result }: StoredList) => {
  const facts = (result as Partial<DoneResult> | undefined)?.facts ?? (found as Facts | undefined);
  return facts && grouped(facts.rows);
};

function ListTable({ lists, names }: ListsFacts) {
  if (lists.length === 0) return <p class="empty-state">There are no lists.</p>;
  return (
    <CardTable
      rows={lists}
      columns={[
        ["List", ({ id, name, state }) => (state === "arriving" ? name : <a href={`${path}/${id}`}>{name}</a>), "name"],
        ["State", (list) => (doneResult(list)?.isExhausted ? "units ended" : stateNames[list.state])],
        ["Rows", rowsOf, "number"],
        ["Key", ({ keyId }) => (keyId === null ? "" : names.get(keyId) || keyId), "name"],
        ["Sent", ({ created }) => <Time at={created} />],
      ]}
    />
  );
}
