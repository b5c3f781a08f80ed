/** Signing in. A button uses up the link, because link previews open links. */
import { FaultBox, Page } from "./layout.js";

export const signInPage = (token: string) => (
  <Page title="Sign in">
    <form method="post" action="/dashboard/sign-in" class="box">
      <input type="hidden" name="token" value={token} />
      <p>The link works once. The session lasts 12 hours, or 2 without use.</p>
      <button type="submit">Sign in</button>
    </form>
  </Page>
);

export interface UnsentForm {
  readonly path: string;
  readonly fields: readonly (readonly [name: string, value: string])[];
}

export const signedOutPage = (text: string, form?: UnsentForm) => (
  <Page title="Sign in">
    <FaultBox text={text} />
    <p>
      The operator makes a link with <code>idv dashboard</code>, on a machine that can use its state. There is no
      password.
    </p>
    {form !== undefined && (
      <form method="post" action={form.path} class="box">
        {form.fields.map(([name, value], i) => (
          <input key={i} type="hidden" name={name} value={value} />
        ))}
        <p>What you have filled in is kept on this page: sign in with a link in another tab, and send it then.</p>
        <button type="submit">Send it again</button>
      </form>
    )}
  </Page>
);
