/** The sessions that have not ended, with a form to end each. */
import { Head } from "../../../core/facts/render/parts.js";
import type { Session } from "../../../state/service/sessions.js";
import { EndForm } from "./field.js";
import { Page, Time } from "./layout.js";

const path = "/dashboard/sessions";

export const sessionsPage = (sessions: readonly Session[]) => (
  <Page title="Sessions" current={path}>
    {sessions.length === 0 ? (
      <p class="empty-state">Nobody is signed in by a link.</p>
    ) : (
      <SessionTable sessions={sessions} />
    )}
  </Page>
);

const SessionTable = ({ sessions }: { readonly sessions: readonly Session[] }) => (
  <table class="cards-table">
    <Head columns={["Session", "Began", "Last seen", "Ends", <span class="hint">End</span>]} />
    <tbody>
      {sessions.map(({ id, name, created, seen, expires }) => (
        <tr key={id}>
          <td class="name">{name ?? `session ${id}`}</td>
          <td data-label="Began">
            <Time at={created} />
          </td>
          <td data-label="Last seen">
            <Time at={seen} />
          </td>
          <td data-label="Ends">
            <Time at={expires} />
          </td>
          <td>
            <EndForm action={`${path}/end`} id={id} what={`session ${id}`} />
          </td>
        </tr>
      ))}
    </tbody>
  </table>
);
