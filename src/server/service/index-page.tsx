/** The page at the root of the service, for people who open it in a browser; programs get the same as JSON. */
import { htmlPage } from "../../core/facts/render/html.js";
import { Head, Section } from "../../core/facts/render/parts.js";
import { style } from "../../core/facts/render/style.js";

interface Index {
  readonly paths: Readonly<Record<string, string>>;
  readonly hasDashboard: boolean;
  readonly hasPage: boolean;
}

export const indexPage = ({ paths, hasDashboard, hasPage }: Index): string =>
  htmlPage(
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>idv</title>
        <style>{style}</style>
      </head>
      <body>
        <main>
          <h1>idv</h1>
          <p class="lead">This service validates e-mail addresses and domains.</p>
          <Section heading="For people">
            <ul>
              {hasPage && (
                <li>
                  <a href="/try/">Check a list in the browser</a>: nothing is sent.
                </li>
              )}
              {hasDashboard && (
                <li>
                  <a href="/dashboard">Dashboard</a>: keys, usage and lists, for those who run the service.
                </li>
              )}
              {!hasPage && !hasDashboard && <li>Nothing here: programs use the service.</li>}
            </ul>
          </Section>
          <Section heading="For programs">
            <p>
              The interface is described in <a href="/openapi.json">openapi.json</a>.
            </p>
            <table>
              <Head columns={["Request", "What it does"]} />
              <tbody>
                {Object.entries(paths).map(([path, summary]) => (
                  <tr key={path}>
                    <td class="name">
                      <code>{path}</code>
                    </td>
                    <td>{summary}</td>
                  </tr>
                ))}
              </tbody>
            </table>
          </Section>
        </main>
      </body>
    </html>,
  );
