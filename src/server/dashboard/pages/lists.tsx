/** All lists, and the form for another one. */

import { Head, Section } from "../../../core/facts/render/parts.js";
import type { StoredList } from "../../../state/service/lists.js";
import { grouped, readFormats } from "../../../text.js";
import type { ListResult } from "../../lists/list-facts.js";
import { FaultBox, Page, Time } from "./layout.js";
import { KindChoice } from "./try.js";

const path = "/dashboard/lists";

interface ListsFacts {
  readonly lists: readonly StoredList[];
  readonly names: ReadonlyMap<string, string>;
  readonly mostBytes: number;
}

export const listsPage = (facts: ListsFacts | undefined, fault?: string) => (
  <Page title="Lists" current={path}>
    {fault !== undefined && <FaultBox text={fault} />}
    {facts === undefined ? (
      <p class="empty-state">
        This server has no folder for lists. Whoever runs the service starts it with <code>--lists FOLDER</code>, a
        folder that all of its servers share.
      </p>
    ) : (
      <>
        <SendForm mostBytes={facts.mostBytes} />
        <Section heading="Lists on the service">
          <ListTable {...facts} />
        </Section>
      </>
    )}
  </Page>
);

const SendForm = ({ mostBytes }: { mostBytes: number }) => (
  <form method="post" action={path} enctype="multipart/form-data" class="box change" data-upload>
    <div class="fields">
      <KindChoice kind="email" />
      <label>
        Column <span class="hint">its name or number, if it cannot be found</span>
        <input name="column" maxLength={100} autocomplete="off" />
      </label>
    </div>
    <label class="drop">
      The list: choose a file, or drop it here{" "}
      <span class="hint">
        {readFormats}; at most {grouped(Math.floor(mostBytes / 1_048_576))} MiB
      </span>
      <input type="file" name="list" required />
    </label>
    <div class="actions">
      <button type="submit">Send</button>
      <progress hidden aria-label="Sent" />
      <output />
    </div>
    <p class="note">
      Everybody who is signed in sees the lists. A list is removed some time after its check, or when you remove it.
      Nothing is charged before you say so.
    </p>
  </form>
);

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

function ListTable({ lists, names }: ListsFacts) {
  if (lists.length === 0) return <p class="empty-state">There are no lists.</p>;
  return (
    <table class="cards-table">
      <Head columns={["List", "State", { number: "Rows" }, "Key", "Sent"]} />
      <tbody>
        {lists.map(({ id, name, state, keyId, created, found, result }) => {
          const table = found as { readonly rows: number } | undefined;
          const ended = result as ListResult | undefined;
          const rows = ended !== undefined && "facts" in ended ? ended.facts.rows : table?.rows;
          return (
            <tr key={id}>
              <td>{state === "arriving" ? name : <a href={`${path}/${id}`}>{name}</a>}</td>
              <td data-label="State">
                {state === "done" && ended !== undefined && "isExhausted" in ended && ended.isExhausted
                  ? "units ended"
                  : stateNames[state]}
              </td>
              <td class="number" data-label="Rows">
                {rows === undefined ? "" : grouped(rows)}
              </td>
              <td data-label="Key">{keyId === null ? "" : names.get(keyId) || keyId}</td>
              <td data-label="Sent">
                <Time at={created} />
              </td>
            </tr>
          );
        })}
      </tbody>
    </table>
  );
}
