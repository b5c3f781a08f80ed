/** The first page: usage of the last 30 days, keys, and recent changes. */
import type { FastifyInstance } from "fastify";
import type { RouteOptions } from "../options.js";
import { overviewPage } from "../pages/overview.js";
import { day, lastQuery, spansOf, unitsByKey } from "../usage-spans.js";

export async function overviewRoutes(
  pages: FastifyInstance,
  { store, figures, terms }: Pick<RouteOptions, "store" | "figures" | "terms">,
): Promise<void> {
  pages.get("/", async () => {
    const isWritable = await store.checkWritable().then(
      () => true,
      () => false,
    );
    const query = lastQuery(store.now(), 30, day);
    const [usage, totals, keys, audit] = await Promise.all([
      store.usage(query),
      store.totals(query),
      store.list(),
      store.audit(10),
    ]);
    const units = unitsByKey(totals);
    return overviewPage({
      days: spansOf(usage, query),
      units,
      keys,
      audit,
      isWritable,
      ...(await figures()),
      terms: terms(),
    });
  });
}
