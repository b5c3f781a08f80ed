/** The first page: usage of the last 30 days, keys, and recent changes. */

import { day } from "../../../time.js";
import type { Routes } from "../options.js";
import { overviewPage } from "../pages/overview.js";
import { lastQuery, spansOf, unitsByKey } from "../usage-spans.js";

export const overviewRoutes: Routes = async (pages, { store, figures, terms }) => {
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
    const days = spansOf(usage, query);
    return overviewPage({
      now: store.now(),
      days,
      units,
      keys,
      audit,
      isWritable,
      ...(await figures()),
      terms: terms(),
    });
  });
};
