/** The first page: usage of the last 30 days, keys, and recent changes. */
import type { FastifyInstance } from "fastify";
import type { RouteOptions } from "../options.js";
import { overviewPage } from "../pages/overview.js";
import { day, lastSpans } from "../usage-spans.js";

export async function overviewRoutes(
  pages: FastifyInstance,
  { store, refusals, terms }: Pick<RouteOptions, "store" | "refusals" | "terms">,
): Promise<void> {
  pages.get("/", async () => {
    const isWritable = await store.checkWritable().then(
      () => true,
      () => false,
    );
    const days = lastSpans(store, store.now(), 30, day);
    const [spans, keys, audit] = await Promise.all([days, store.list(), store.audit(10)]);
    return overviewPage({ days: spans, keys, audit, isWritable, refusals: await refusals(), terms: terms() });
  });
}
