/** People and their sessions, and the forms that change them. */
import type { Person, Session } from "../../store/state/people.js";
import { Copyable } from "./keys.js";
import { FaultBox, renderPage, Time } from "./layout.js";

const path = "/dashboard/people";

interface PeopleProperties {
  readonly people: readonly Person[];
  readonly sessions: readonly Session[];
  readonly fault?: string;
  /** Name in a form that was refused. */
  readonly name?: string;
}

export const peoplePage = ({ people, sessions, fault, name }: PeopleProperties): string =>
  renderPage({
    title: "People",
    current: path,
    children: (
      <>
        {fault !== undefined && <FaultBox text={fault} />}
        {people.length === 0 ? (
          <p class="empty-state">
            Nobody is named yet: whoever has a link may do everything, and the changes name only its session.
          </p>
        ) : (
          <PeopleTable people={people} sessions={sessions} />
        )}
        <section class="change">
          <h2>Add a person</h2>
          <form method="post" action={path} class="box">
            <div class="fields">
              <label>
                Name <span class="hint">or e-mail address, if a proxy signs people in</span>
                <input name="name" required maxLength={100} autocomplete="off" value={name ?? ""} />
              </label>
              <label>
                Role
                <select name="role">
                  <option value="admin">admin: may change everything</option>
                  <option value="viewer">viewer: may look</option>
                </select>
              </label>
            </div>
            <div class="actions">
              <button type="submit">Add</button>
            </div>
          </form>
        </section>
        <section>
          <h2>Sessions</h2>
          <SessionTable sessions={sessions} />
        </section>
      </>
    ),
  });

const PeopleTable = ({ people, sessions }: Pick<PeopleProperties, "people" | "sessions">) => (
  <table class="cards-table">
    <thead>
      <tr>
        {["Name", "Role", "Last seen", "Added", ""].map((name) => (
          <th key={name} scope="col">
            {name || <span class="hint">Change</span>}
          </th>
        ))}
      </tr>
    </thead>
    <tbody>
      {people.map(({ id, name, role, created }) => {
        const seen = sessions.flatMap(({ person, seen }) => (person?.id === id ? (seen ?? []) : []));
        return (
          <tr key={id}>
            <td class="name">{name}</td>
            <td data-label="Role">{role}</td>
            <td data-label="Last seen">{seen.length === 0 ? "" : <Time at={Math.max(...seen)} />}</td>
            <td data-label="Added">
              <Time at={created} />
            </td>
            <td class="change">
              <Small action="link" name={name} text="Link" label={`Link to sign in for ${name}`} />
              <Small
                action="role"
                name={name}
                role={role === "admin" ? "viewer" : "admin"}
                text={role === "admin" ? "Make viewer" : "Make admin"}
                label={`${role === "admin" ? "Make viewer" : "Make admin"}: ${name}`}
              />
              <Small action="remove" name={name} text="Remove" label={`Remove ${name}`} />
            </td>
          </tr>
        );
      })}
    </tbody>
  </table>
);

const Small = ({
  action,
  name,
  role,
  text,
  label,
}: {
  action: string;
  name: string;
  role?: string;
  text: string;
  label: string;
}) => (
  <form method="post" action={`${path}/${action}`} class="inline">
    <input type="hidden" name="name" value={name} />
    {role !== undefined && <input type="hidden" name="role" value={role} />}
    <button type="submit" class="quiet" aria-label={label}>
      {text}
    </button>
  </form>
);

const SessionTable = ({ sessions }: Pick<PeopleProperties, "sessions">) => (
  <table class="cards-table">
    <thead>
      <tr>
        {["Session", "Began", "Last seen", "Ends", ""].map((name) => (
          <th key={name} scope="col">
            {name || <span class="hint">End</span>}
          </th>
        ))}
      </tr>
    </thead>
    <tbody>
      {sessions.map(({ id, person, created, seen, expires }) => (
        <tr key={id}>
          <td class="name">{person?.name ?? `session ${id}`}</td>
          <td data-label="Began">{created === null ? "" : <Time at={created} />}</td>
          <td data-label="Last seen">{seen === null ? "" : <Time at={seen} />}</td>
          <td data-label="Ends">
            <Time at={expires} />
          </td>
          <td class="change">
            <form method="post" action={`${path}/end-session`} class="inline">
              <input type="hidden" name="id" value={id} />
              <button type="submit" class="quiet" aria-label={`End now: session ${id}`}>
                End now
              </button>
            </form>
          </td>
        </tr>
      ))}
    </tbody>
  </table>
);

export const linkPage = (name: string, link: string): string =>
  renderPage({
    title: "Link to sign in",
    current: path,
    children: (
      <>
        <p class="good">
          {name} signs in with this link, once and within 10 minutes. Send it over a channel that only {name}{" "}
          reads.
        </p>
        <Copyable text={link} />
        <p class="actions">
          <a href={path}>To the people</a>
        </p>
      </>
    ),
  });
