/** One list: its table and the choices for its check, the progress, and the result. */
import type { Progress } from "../../../child-program.js";
import type { Facts } from "../../../core/facts/facts.js";
import { Section, StatusTable } from "../../../core/facts/render/parts.js";
import { itemsOf, statusesOf } from "../../../core/facts/words.js";
import { knownStatuses } from "../../../core/validator/validator.js";
import type { ApiKey } from "../../../state/service/api-key.js";
import type { StoredList } from "../../../state/service/lists.js";
import { counted, grouped, sizeOf } from "../../../text.js";
import type { ListResult } from "../../lists/list-facts.js";
import type { BadRow } from "../bad-rows.js";
import { CardTable } from "./card-table.js";
import { Check, Choice, Field, type RefusedForm } from "./field.js";
import { FaultBox, Page } from "./layout.js";
import { stateNames } from "./lists.js";

interface ListPage {
  readonly keys: readonly ApiKey[];
  readonly badRows: readonly BadRow[];
  readonly refused: RefusedForm | undefined;
}

export function listPage(list: StoredList, page: ListPage) {
  const { id, state, name } = list;
  const isMoving = state === "running" || state === "waiting";
  return (
    <Page title={name} current="/dashboard/lists" refresh={isMoving ? 1 : undefined}>
      {!isMoving && <p class="sub">State: {stateNames[state]}</p>}
      {page.refused !== undefined && <FaultBox text={page.refused.fault} />}
      {(state === "done" || state === "failed") && <Ended list={list} {...page} />}
      {(state === "found" || (state === "failed" && list.found !== undefined)) && <Detected list={list} {...page} />}
      {isMoving && <Running progress={list.progress as Progress | undefined} state={stateNames[state]} />}
      <form method="post" action={`/dashboard/lists/${id}/remove`} class="actions">
        <button type="submit" class="danger">
          {isMoving ? "Stop and remove" : "Remove the list"}
        </button>
      </form>
    </Page>
  );
}

const delimiterNames: Readonly<Record<string, string>> = { ",": "comma", ";": "semicolon", "\t": "tab", "|": "bar" };

/** Keys above which a name has to be typed. */
const mostInSelect = 50;

function Detected({ list: { id, kind, found }, keys, refused }: ListPage & { list: StoredList }) {
  const { rows, distinct, inputs, badRows } = found as Facts;
  const [{ column, columns, dialect, sheet }] = inputs as readonly [Facts["inputs"][number]];
  // Each table of an archive has columns and a delimiter of its own.
  const isOne = inputs.length === 1;
  const { delimiter } = dialect;
  const items = itemsOf({ kind });
  const statuses = knownStatuses.filter((status) => kind === "email" || status !== "alias");
  const isEnough = ({ quota: { left } }: ApiKey) => left === null || left >= distinct;
  const form = refused?.form;
  const key = form?.get("key") ?? (keys.find(isEnough) ?? keys[0])?.id;
  if (key === undefined) {
    return (
      <p class="empty-state">
        No key can be charged: <a href="/dashboard/keys#create">create one</a>, and come back.
      </p>
    );
  }
  return (
    <form method="post" action={`/dashboard/lists/${id}/run`} class="box">
      <p>
        {counted(rows, "row")} with {grouped(distinct)} different {items}
        {delimiter === null || sheet !== null || !isOne
          ? ""
          : `, fields with a ${delimiterNames[delimiter] ?? delimiter} between them`}
        . Checking them costs at most {counted(distinct, "unit")}.
      </p>
      {badRows > 0 && (
        <p class="fault">{counted(badRows, "row is broken and cannot", "rows are broken and cannot")} be checked.</p>
      )}
      {!keys.some(isEnough) && (
        <p class="fault">No key has that many units left: some rows would stay unchecked, until there are more.</p>
      )}
      <div class="fields">
        {sheet !== null && sheet.others.length > 0 && (
          <Choice
            label="Sheet"
            hint="in another one, the column is found again"
            name="sheet"
            options={[sheet.name, ...sheet.others]}
            chosen={form?.get("sheet")}
          />
        )}
        {isOne && (
          <Choice
            label={`Column with the ${items}`}
            name="column"
            options={(columns.length === 0 ? [""] : columns).map((name, i) => [`${i + 1}`, `${i + 1} ${name}`])}
            chosen={form?.get("column") ?? String(column)}
          />
        )}
        {sheet === null && isOne && (
          <Choice
            label="Delimiter"
            name="delimiter"
            options={[
              ["", "as found"],
              ...Object.entries(delimiterNames).map(
                ([character, name]) => [character === "\t" ? "tab" : character, name] as const,
              ),
            ]}
            chosen={form?.get("delimiter")}
          />
        )}
        {keys.length > mostInSelect ? (
          <Field label="Key to charge" hint="its name or id" name="key" value={key} required />
        ) : (
          <Choice
            label="Key to charge"
            name="key"
            options={keys.map(({ id, name, quota: { left } }) => [
              id,
              `${name || id} (${left === null ? "no limit" : `${grouped(left)} left`})`,
            ])}
            chosen={key}
          />
        )}
        <Choice label="Leave out" name="drop" options={leftOut(statuses)} chosen={form?.get("drop")} />
        <fieldset>
          <legend>Also</legend>
          <Check name="split" text="a file for each status" checked={form?.has("split")} />
          <Check name="fix" text="repair mistyped domains" checked={form?.has("fix")} />
          <Check name="dns" text="look up whether domains receive mail (slower)" checked={form?.has("dns")} />
          {badRows > 0 && <Check name="skip" text="leave out the broken rows" checked={form?.has("skip") ?? true} />}
          {refused?.isShort && <Check name="short" text="check until the units run out" checked={form?.has("short")} />}
        </fieldset>
      </div>
      <div class="actions">
        <button type="submit">Check the list</button>
      </div>
    </form>
  );
}

/** What the result can be without: bad rows together, all rows that are not sure, or those of one status. */
const leftOut = (statuses: readonly string[]): (readonly [statuses: string, text: string])[] => [
  ["", "nothing"],
  ["fake,disposable", "what cannot be written to: fake, disposable"],
  [statuses.filter((status) => status !== "ok").join(","), "all but ok"],
  ...statuses.map((status) => [status, status] as const),
];

function Running({ progress, state }: { progress: Progress | undefined; state: string }) {
  const share = progress?.share ?? undefined;
  return (
    <div class="box" aria-live="polite" data-follow>
      <p>
        State: {state}
        {progress === undefined ? "" : `; ${grouped(progress.rows)} rows, ${grouped(progress.units)} units`}
        {share === undefined ? "" : `, ${Math.floor(100 * share)} %`}
      </p>
      <progress aria-label="Checked" {...(share !== undefined && { value: share })} />
      <p class="note">This page follows the check by itself. You can leave it, and come back.</p>
    </div>
  );
}

const Again = ({ id, text }: { id: string; text: string }) => (
  <form method="post" action={`/dashboard/lists/${id}/rest`} class="actions">
    <button type="submit">{text}</button>
  </form>
);

function Ended({ list, badRows }: ListPage & { list: StoredList }) {
  const { id } = list;
  const result = list.result as ListResult;
  if ("fault" in result) {
    return (
      <>
        <FaultBox text={result.fault} />
        <Again id={id} text="Try again" />
        <p class="note">What was charged before counts: nothing is charged twice.</p>
      </>
    );
  }
  const { facts, files, isExhausted } = result;
  const { rows, written, empty, units } = facts;
  const unchecked = facts.statuses["quota_exceeded"] ?? 0;
  return (
    <>
      {isExhausted && (
        <>
          <FaultBox
            text={`The units ended: ${counted(unchecked, "row")} ${unchecked === 1 ? "was" : "were"} not checked. When the key has units again, check the rest; what is paid is not charged again.`}
          />
          <Again id={id} text="Check the rest" />
        </>
      )}
      <p class="good">
        {counted(rows - empty - unchecked, "row")} checked, for {counted(units.used, "unit")}
        {units.paidBefore === 0 ? "" : `; ${grouped(units.paidBefore)} more were paid before`}.
      </p>
      <StatusTable statuses={statusesOf(facts)} all={rows} total="All rows" />
      {facts.badRows > 0 && <p class="note">{counted(facts.badRows, "broken row")} left out.</p>}
      {written < rows && <p class="note">{counted(rows - written, "row")} left out, as chosen.</p>}
      <div class="actions">
        {files.map(({ name, bytes }, i) => (
          <a key={name} class="button" href={`/dashboard/lists/${id}/file/${i}`} download={name}>
            {name} ({sizeOf(bytes)})
          </a>
        ))}
        <a href={`/dashboard/lists/${id}/report`} target="_blank" rel="noopener">
          Report
        </a>
      </div>
      {badRows.length > 0 && (
        <Section heading="The first bad rows">
          <CardTable
            rows={badRows}
            columns={[
              ["Line", ({ line }) => (line === undefined ? "" : grouped(line)), "number"],
              ["What is wrong", ({ text }) => text, "name"],
            ]}
          />
        </Section>
      )}
    </>
  );
}
