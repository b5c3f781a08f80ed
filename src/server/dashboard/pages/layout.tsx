/** The frame of all pages, and their shared parts. Text is escaped when a page is rendered. */
import type { ComponentChildren } from "preact";
import { StackedBar } from "../../../core/facts/render/parts.js";
import type { ApiKey } from "../../../state/service/api-key.js";
import { grouped } from "../../../text.js";
import { minuteText } from "../../../time.js";
import { assets } from "../assets.js";

const paths = {
  "/dashboard": "Overview",
  "/dashboard/keys": "Keys",
  "/dashboard/usage": "Usage",
  "/dashboard/try": "Try it",
  "/dashboard/lists": "Lists",
  "/dashboard/sessions": "Sessions",
} as const;

interface PageParts {
  title: string;
  /** None for somebody who is not signed in. */
  current?: keyof typeof paths | undefined;
  /** Seconds. */
  refresh?: number | undefined;
  children: ComponentChildren;
}

export const Page = ({ title, current, refresh, children }: PageParts) => (
  <html lang="en">
    <head>
      <meta charset="utf-8" />
      <meta name="viewport" content="width=device-width, initial-scale=1" />
      {/* With the script, the page stays as it is but for its progress. */}
      {refresh !== undefined && (
        <noscript>
          <meta http-equiv="refresh" content={String(refresh)} />
        </noscript>
      )}
      <title>{`${title} - idv`}</title>
      <link rel="icon" href={assets.icon.path} />
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

export function Time({ at, never = "never" }: { at: number | null; never?: string }) {
  if (at === null) return <>{never}</>;
  return <time dateTime={new Date(at).toISOString()}>{minuteText(at)} UTC</time>;
}

export const nameOfKey = ({ id, name }: Pick<ApiKey, "id" | "name">): string => name || id;

export const FaultBox = ({ text }: { text: string }) => (
  <p class="fault" role="alert">
    {text}
  </p>
);

export const faultPage = (text: string, isSignedIn: boolean) => (
  <Page title="Not possible" current={isSignedIn ? "/dashboard" : undefined}>
    <FaultBox text={text} />
  </Page>
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

export const Renewal = ({ quota: { limit, renewsAt } }: Pick<ApiKey, "quota">) => (
  <Time at={limit === null ? null : renewsAt} never="-" />
);
