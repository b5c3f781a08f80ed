/** Usage by hours or days, as a page and as CSV. */
import type { FastifyInstance } from "fastify";
import { hoursKept, type UsageQuery } from "../../store/state/usage.js";
import { choiceOf, fieldOf, queryIn, timeIn } from "../form.js";
import type { RouteOptions } from "../options.js";
import { PageFault } from "../page-fault.js";
import { type UsageForm, usageCsv, usagePage } from "../pages/usage.js";
import { day, hour, spansOf } from "../usage-spans.js";

/** Longest time shown, in days: by hours, and by days. */
const mostHourDays = 31;
const mostDays = 366;

export async function usageRoutes(
  pages: FastifyInstance,
  { store }: Pick<RouteOptions, "store">,
): Promise<void> {
  const spansFor = async (form: UsageForm) => {
    const query = queryOf(form);
    return spansOf(await store.usage(query), query);
  };

  pages.get("/usage", async (request) => {
    const form = formOf(queryIn(request), store.now());
    return usagePage(form, await spansFor(form), await store.list());
  });

  pages.get("/usage.csv", async (request, reply) => {
    const form = formOf(queryIn(request), store.now());
    reply.header("content-disposition", `attachment; filename="usage-${form.from}-${form.to}.csv"`);
    return reply.type("text/csv; charset=utf-8").send(usageCsv(await spansFor(form), form.by === "hour"));
  });
}

function formOf(query: URLSearchParams, now: number): UsageForm {
  const from = fieldOf(query, "from") ?? dayName(now - 29 * day);
  const to = fieldOf(query, "to") ?? dayName(now);
  const by = choiceOf(query, "by", ["day", "hour"]);
  const days = (timeIn(to, "To") - timeIn(from, "From")) / day + 1;
  const most = by === "hour" ? mostHourDays : mostDays;
  if (days < 1 || days > most) throw new PageFault(400, `Give a time of 1 to ${most} days.`);
  if (by === "hour" && timeIn(from, "From") < now - hoursKept) {
    throw new PageFault(
      400,
      `Hours are kept for ${hoursKept / day} days: give a later time, or choose days.`,
    );
  }
  return { from, to, by, key: fieldOf(query, "key") ?? "" };
}

const dayName = (time: number): string => new Date(time).toISOString().slice(0, 10);

const queryOf = ({ from, to, key, by }: UsageForm): UsageQuery => ({
  from: timeIn(from, "From"),
  to: timeIn(to, "To") + day,
  span: by === "hour" ? hour : day,
  ...(key !== "" && { keyId: key }),
});
