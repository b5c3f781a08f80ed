/** The sessions that have not ended, with a form to end each. */
import type { Session } from "../../../state/service/sessions.js";
import { CardTable, endColumn } from "./card-table.js";
import { EndForm } from "./field.js";
import { Page, Time } from "./layout.js";

const path = "/dashboard/sessions";

/** `own` is the visitor's; undefined if a proxy has signed him in. */
export const sessionsPage = (sessions: readonly Session[], own: string | undefined) => (
  <Page title="Sessions" current={path}>
    {sessions.length === 0 ? (
      <p class="empty-state">Nobody is signed in by a link.</p>
    ) : (
      <CardTable
        rows={sessions}
        columns={[
          ["Session", ({ id, name }) => `${name ?? `session ${id}`}${id === own ? " (this one)" : ""}`, "name"],
          ["Began", ({ created }) => <Time at={created} />],
          ["Last seen", ({ seen }) => <Time at={seen} />],
          ["Ends", ({ expires }) => <Time at={expires} />],
          [endColumn, ({ id }) => <EndForm action={`${path}/end`} id={id} what={`session ${id}`} />],
        ]}
      />
    )}
  </Page>
);
