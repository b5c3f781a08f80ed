/** A real browser for the tests of pages: the one of IDV_TEST_BROWSER, else Chromium from npm. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type Browser, chromium, type Page } from "playwright-core";
import { expect } from "vitest";

/** Folder of the unpacked Chromium; private, because what lies there is executed. */
export const browserFolder = fileURLToPath(new URL("../node_modules/.cache/idv-chromium", import.meta.url));
export const packagedBrowser = join(browserFolder, "chromium");

/** Returns the path of the browser; undefined if there is none. */
export function wantedBrowser(): string | undefined {
  const named = process.env["IDV_TEST_BROWSER"];
  if (named !== undefined) return named;
  return existsSync(packagedBrowser) ? packagedBrowser : undefined;
}

export function startBrowser(): Promise<Browser> {
  return chromium.launch({
    executablePath: wantedBrowser()!,
    // The sandbox does not work for root. The tests open only pages of idv.
    args: ["--headless=shell", "--no-sandbox"],
    env: {
      ...(process.env as Record<string, string>),
      LD_LIBRARY_PATH: join(browserFolder, "al2023/lib"),
      FONTCONFIG_PATH: join(browserFolder, "fonts"),
    },
  });
}

const axePath = fileURLToPath(new URL("../node_modules/axe-core/axe.min.js", import.meta.url));

/** Expects that axe-core finds no fault in a page, such as text without contrast or fields without a name. */
export async function expectAccessible(page: Page): Promise<void> {
  await page.addScriptTag({ path: axePath });
  const faults = await page.evaluate(async () => {
    // biome-ignore lint/suspicious/noExplicitAny: the script defines it.
    const { violations } = await (globalThis as any).axe.run();
    return violations.map(({ id, nodes }: { id: string; nodes: { html: string }[] }) => [id, nodes[0]?.html]);
  });
  expect(faults).toEqual([]);
}

/** Expects that a page fits its window: no scrolling to the side. */
export async function expectFits(page: Page): Promise<void> {
  const [content, window] = await page.evaluate(() => [
    document.documentElement.scrollWidth,
    document.documentElement.clientWidth,
  ]);
  expect(content).toBe(window);
}
