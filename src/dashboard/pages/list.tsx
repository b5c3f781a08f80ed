/** Checking a list: its upload, the detected table, the progress, and the results. */
import { grouped, Key, perCent } from "../../report/parts.js";
import type { ApiKey } from "../../store/state/service-store.js";
import { knownStatuses } from "../../validator/validator.js";
import type { DetectedTable, JobState, ListJob } from "../list-job.js";
import { FaultBox, renderPage } from "./layout.js";
import { KindChoice } from "./try.js";

const path = "/dashboard/list";

const counted = (count: number, name: string): string => `${grouped(count)} ${name}${count === 1 ? "" : "s"}`;

export const sendPage = (mostBytes: number, fault?: string): string =>
  renderPage({
    title: "Check a list",
    current: path,
    children: (
      <>
        {fault !== undefined && <FaultBox text={fault} />}
        <form method="post" action={path} enctype="multipart/form-data" class="box" data-upload>
          <div class="fields">
            <KindChoice kind="email" />
            <label>
              Column <span class="hint">its name or number, if it cannot be found</span>
              <input name="column" maxLength={100} autocomplete="off" />
            </label>
          </div>
          <label>
            The list{" "}
            <span class="hint">
              CSV, TSV, one item a line, JSON Lines or a spreadsheet (.xlsx, .ods), also with gzip; at most{" "}
              {grouped(Math.floor(mostBytes / 1_048_576))} MiB
            </span>
            <input type="file" name="list" required />
          </label>
          <div class="actions">
            <button type="submit">Send</button>
            <progress hidden aria-label="Sent" />
            <output />
          </div>
        </form>
        <p class="note">
          The list stays on this server only as long as it is needed: it is removed when you remove it, when
          you sign out, and an hour after you last looked at it. Nothing is charged before you say so.
        </p>
      </>
    ),
  });

export function listPage(job: ListJob, keys: readonly ApiKey[], fault?: string): string {
  const { state, name } = job;
  return renderPage({
    title: "Check a list",
    current: path,
    ...(state.name === "running" && { refresh: 1 }),
    children: (
      <>
        <p class="sub">{name}</p>
        {fault !== undefined && <FaultBox text={fault} />}
        {state.name === "detected" && <Detected job={job} table={state.table} keys={keys} />}
        {state.name === "running" && <Running progress={state.progress} />}
        {state.name === "done" && <Done state={state} />}
        {state.name === "failed" && <FaultBox text={state.fault} />}
        <form method="post" action={`${path}/remove`} class="actions">
          <button type="submit" class="danger">
            {state.name === "running" ? "Cancel" : "Remove the list"}
          </button>
        </form>
      </>
    ),
  });
}

const delimiterNames: Readonly<Record<string, string>> = {
  ",": "comma",
  ";": "semicolon",
  "\t": "tab",
  "|": "bar",
};

function Detected({
  job: { kind },
  table,
  keys,
}: {
  job: ListJob;
  table: DetectedTable;
  keys: readonly ApiKey[];
}) {
  const { rows, distinct, column, columns, delimiter } = table;
  const items = kind === "email" ? "addresses" : "domains";
  const statuses = knownStatuses.filter((status) => kind === "email" || status !== "alias");
  if (keys.length === 0) {
    return (
      <p class="empty-state">
        No key can be charged: <a href="/dashboard/keys#create">create one</a>, and come back.
      </p>
    );
  }
  return (
    <form method="post" action={`${path}/run`} class="box">
      <p>
        {counted(rows, "row")} with {grouped(distinct)} different {items}
        {delimiter === null ? "" : `, fields with a ${delimiterNames[delimiter] ?? delimiter} between them`}.
        Checking them costs at most {counted(distinct, "unit")}.
      </p>
      <div class="fields">
        <label>
          Column with the {items}
          <select name="column">
            {(columns.length === 0 ? [""] : columns).map((name, i) => (
              <option key={`${i} ${name}`} value={i + 1} selected={i + 1 === column}>
                {i + 1} {name}
              </option>
            ))}
          </select>
        </label>
        <label>
          Delimiter
          <select name="delimiter">
            <option value="">as found</option>
            {Object.entries(delimiterNames).map(([character, name]) => (
              <option key={name} value={character === "\t" ? "tab" : character}>
                {name}
              </option>
            ))}
          </select>
        </label>
        <label>
          Key to charge
          <select name="key">
            {keys.map(({ id, name, quota: { left } }) => (
              <option key={id} value={id}>
                {name || id}: {left === null ? "no limit" : `${grouped(left)} units left`}
              </option>
            ))}
          </select>
        </label>
        <fieldset>
          <legend>Leave out</legend>
          {statuses.map((status) => (
            <label key={status} class="check">
              <input type="checkbox" name="drop" value={status} />
              {status}
            </label>
          ))}
        </fieldset>
        <fieldset>
          <legend>Also</legend>
          <label class="check">
            <input type="checkbox" name="split" value="yes" />a file for each status
          </label>
          <label class="check">
            <input type="checkbox" name="dns" value="yes" />
            look up whether domains receive mail (slower)
          </label>
        </fieldset>
      </div>
      <div class="actions">
        <button type="submit">Check the list</button>
      </div>
    </form>
  );
}

function Running({ progress }: { progress: Extract<JobState, { name: "running" }>["progress"] }) {
  const share = progress?.share ?? undefined;
  return (
    <div class="box" aria-live="polite">
      <p>
        {progress === undefined
          ? "Starting"
          : `${grouped(progress.rows)} rows, ${grouped(progress.units)} units`}
        {share === undefined ? "" : `, ${Math.floor(100 * share)} %`}
      </p>
      <progress aria-label="Checked" {...(share !== undefined && { value: share })} />
      <p class="note">This page follows the check by itself.</p>
    </div>
  );
}

function Done({ state: { summary, files, isExhausted } }: { state: Extract<JobState, { name: "done" }> }) {
  const entries = Object.entries(summary.statuses);
  return (
    <>
      {isExhausted && (
        <FaultBox text="The units of the key ran out: the rest of the rows is quota_exceeded. Raise the limit, and check the list again." />
      )}
      <p class="good">
        {counted(summary.rows, "row")} checked, for {counted(summary.units.used, "unit")}.
      </p>
      <table class="cards-table">
        <thead>
          <tr>
            <th scope="col">Status</th>
            <th scope="col" class="number">
              Rows
            </th>
            <th scope="col" class="number">
              Share
            </th>
          </tr>
        </thead>
        <tbody>
          {entries.map(([status, rows]) => (
            <tr key={status}>
              <td>
                <Key className={status} />
                {status}
              </td>
              <td class="number" data-label="Rows">
                {grouped(rows)}
              </td>
              <td class="number" data-label="Share">
                {perCent(rows, summary.rows)}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      <div class="actions">
        {files.map(({ name, bytes }, i) => (
          <a key={name} class="button" href={`${path}/file/${i}`} download={name}>
            {name} ({grouped(Math.ceil(bytes / 1024))} kB)
          </a>
        ))}
        <a href={`${path}/report`} target="_blank" rel="noopener">
          Report
        </a>
      </div>
    </>
  );
}
