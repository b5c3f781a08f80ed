/** The frame of all pages, and their shared parts. Text is escaped when a page is rendered. */

import type { ComponentChildren } from "preact";
import { htmlPage } from "../../report/html.js";
import { grouped, StackedBar } from "../../report/parts.js";
import type { ApiKey } from "../../store/state/service-store.js";
import { assets } from "../assets.js";
import { type Span, series } from "../usage-spans.js";

const paths = {
  "/dashboard": "Overview",
  "/dashboard/keys": "Keys",
  "/dashboard/usage": "Usage",
  "/dashboard/try": "Try it",
  "/dashboard/lists": "Lists",
  "/dashboard/people": "People",
} as const;

interface PageProperties {
  readonly title: string;
  /** Path in the navigation; undefined if nobody is signed in. */
  readonly current: keyof typeof paths | undefined;
  /** Seconds until the page reloads. */
  readonly refresh?: number;
  readonly children: ComponentChildren;
}

export function renderPage({ title, current, refresh, children }: PageProperties): string {
  const page = (
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        {refresh !== undefined && <meta http-equiv="refresh" content={String(refresh)} />}
        <title>{`${title} - idv`}</title>
        <link rel="stylesheet" href={assets.style.path} />
        <script type="module" src={assets.script.path} />
      </head>
      <body>
        <header class="top">
          <a class="brand" href="/dashboard">
            idv
          </a>
          {current !== undefined && (
            <>
              <nav aria-label="Pages">
                {Object.entries(paths).map(([path, name]) => (
                  <a key={path} href={path} {...(path === current && { "aria-current": "page" as const })}>
                    {name}
                  </a>
                ))}
              </nav>
              <form method="post" action="/dashboard/sign-out">
                <button type="submit" class="quiet">
                  Sign out
                </button>
              </form>
            </>
          )}
        </header>
        <main>
          <h1>{title}</h1>
          {children}
        </main>
      </body>
    </html>
  );
  return htmlPage(page);
}

/** A time in UTC; with a script, in the reader's zone. */
export function Time({ at }: { at: number }) {
  const iso = new Date(at).toISOString();
  return (
    <time dateTime={iso} title={`${iso.slice(0, 19).replace("T", " ")} UTC`}>
      {`${iso.slice(0, 16).replace("T", " ")} UTC`}
    </time>
  );
}

export const FaultBox = ({ text }: { text: string }) => (
  <p class="fault" role="alert">
    {text}
  </p>
);

export const faultPage = (text: string, isSignedIn: boolean): string =>
  renderPage({
    title: "Not possible",
    current: isSignedIn ? "/dashboard" : undefined,
    children: <FaultBox text={text} />,
  });

export const spanName = (start: number, isHour: boolean): string =>
  new Date(start)
    .toISOString()
    .slice(0, isHour ? 16 : 10)
    .replace("T", " ");

export function UsageChart({ spans, isHour = false }: { spans: readonly Span[]; isHour?: boolean }) {
  const heightOf = ({ counts }: Span) => series.reduce((sum, name) => sum + counts[name], 0);
  const most = Math.max(1, ...spans.map(heightOf));
  const used = spans.filter((span) => heightOf(span) > 0);
  if (used.length === 0) return <p class="empty-state">No units were used in this time.</p>;
  const last = spans.at(-1)!;
  return (
    <>
      <svg
        class="chart-columns"
        viewBox={`0 0 ${spans.length * 10} 100`}
        preserveAspectRatio="none"
        role="img"
        aria-label={`Units by ${isHour ? "hour" : "day"}, at most ${grouped(most)}; the table below has the figures`}
      >
        {spans.map((span, i) => {
          let top = 100;
          return (
            <g key={span.start}>
              <rect class="track" x={i * 10 + 1} y="0" width="8" height="100" />
              <title>{`${spanName(span.start, isHour)}: ${grouped(span.units)} units`}</title>
              {series.map((name) => {
                const height = (100 * span.counts[name]) / most;
                top -= height;
                return height === 0 ? null : (
                  <rect
                    key={name}
                    class={name}
                    x={i * 10 + 1}
                    y={top.toFixed(2)}
                    width="8"
                    height={height.toFixed(2)}
                  />
                );
              })}
            </g>
          );
        })}
      </svg>
      <div class="axis">
        <span>{spanName(spans[0]!.start, isHour)}</span>
        <span>{spanName(last.start, isHour)}</span>
      </div>
      <div class="legend">
        {series
          .filter((name) => used.some(({ counts }) => counts[name] > 0))
          .map((name) => (
            <span key={name}>
              <svg class="key" viewBox="0 0 10 10" aria-hidden="true">
                <rect class={name} width="10" height="10" />
              </svg>
              {name}
            </span>
          ))}
      </div>
      <details>
        <summary>Figures</summary>
        <UsageTable spans={used} isHour={isHour} />
      </details>
    </>
  );
}

export const UsageTable = ({ spans, isHour }: { spans: readonly Span[]; isHour: boolean }) => (
  <table class="cards-table">
    <thead>
      <tr>
        <th scope="col">{isHour ? "Hour (UTC)" : "Day (UTC)"}</th>
        <th scope="col" class="number">
          Units
        </th>
        {series.map((name) => (
          <th key={name} scope="col" class="number">
            {name}
          </th>
        ))}
      </tr>
    </thead>
    <tbody>
      {spans.map(({ start, units, counts }) => (
        <tr key={start}>
          <td>{spanName(start, isHour)}</td>
          <td class="number" data-label="Units">
            {grouped(units)}
          </td>
          {series.map((name) => (
            <td key={name} class="number" data-label={name}>
              {grouped(counts[name])}
            </td>
          ))}
        </tr>
      ))}
    </tbody>
  </table>
);

export function QuotaMeter({ quota: { used, limit } }: Pick<ApiKey, "quota">) {
  if (limit === null) return <>{grouped(used)}, no limit</>;
  const isNearEnd = used >= 0.8 * limit;
  return (
    <>
      {grouped(used)} of {grouped(limit)}
      <StackedBar
        className="meter"
        slices={[
          { className: isNearEnd ? "fake" : "ok", label: "used", count: Math.min(used, limit) },
          { className: "track", label: "left", count: Math.max(0, limit - used) },
        ]}
      />
    </>
  );
}

export const Renewal = ({ quota: { renewsAt } }: Pick<ApiKey, "quota">) =>
  renewsAt === null ? <>never</> : <Time at={renewsAt} />;
