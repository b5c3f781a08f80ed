/** Trying a few items, which costs nothing. */
import { extractItem } from "../../../core/run/items/item.js";
import { choiceOf, formIn } from "../form.js";
import type { Routes } from "../options.js";
import { tryPage } from "../pages/try.js";

const mostLines = 100;

export const tryRoutes: Routes = async (pages, { classifier }) => {
  pages.get("/try", async () => tryPage({ kind: "email", text: "", lines: [] }));

  pages.post("/try", async (request) => {
    const form = formIn(request);
    const kind = choiceOf(form, "kind", ["email", "domain"]);
    const text = form.get("items") ?? "";
    const items = text.split(/\r?\n/).flatMap((line) => line.trim() || []);
    if (items.length > mostLines) {
      const fault = `${items.length} lines; at most ${mostLines}. For more, check a list.`;
      return tryPage({ kind, text, lines: [], fault });
    }
    if (items.length === 0) return tryPage({ kind, text, lines: [], fault: "Type an item, or several, one a line." });
    const lines = items.map((item) => ({ item, verdict: classifier.classify(kind, extractItem(kind, item)) }));
    return tryPage({ kind, text, lines });
  });
};
