/** Usage by hours or days, as a page and as CSV. */
import type { ApiKey } from "../../../state/service/api-key.js";
import { hoursKept, type UsageQuery } from "../../../state/service/usage.js";
import { Refusal } from "../../refusal.js";
import { choiceOf, fieldOf, queryIn, timeIn } from "../form.js";
import type { Routes } from "../options.js";
import { type ShownUsage, type UsageForm, usageCsv, usagePage } from "../pages/usage.js";
import { day, dayName, hour, spansOf } from "../usage-spans.js";

/** Longest time shown, in days: by hours, of two keys by hours, and by days. */
const mostHourDays = 7;
const mostComparedDays = 3;
const mostDays = 366;

export const usageRoutes: Routes = async (pages, { store }) => {
  const shownFor = async (form: UsageForm, keys: readonly ApiKey[]): Promise<readonly ShownUsage[]> => {
    const named = [form.key, ...(form.other === "" ? [] : [form.other])].map((name) => keyOf(keys, name));
    return Promise.all(
      named.map(async (key) => {
        const query = { ...queryOf(form), ...(key !== undefined && { keyId: key.id }) };
        return { key, spans: spansOf(await store.usage(query), query) };
      }),
    );
  };

  pages.get("/usage", async (request) => {
    const form = formOf(queryIn(request), store.now());
    const keys = await store.list();
    return usagePage(form, await shownFor(form, keys), keys, store.now());
  });

  pages.get("/usage.csv", async (request, reply) => {
    const form = formOf(queryIn(request), store.now());
    const [usage] = await shownFor({ ...form, other: "" }, await store.list());
    reply.header("content-disposition", `attachment; filename="usage-${form.from}-${form.to}.csv"`);
    return reply.type("text/csv; charset=utf-8").send(usageCsv(usage!.spans, form.by));
  });
};

/** Takes an id or a name. @throws Refusal when there is no such key */
function keyOf(keys: readonly ApiKey[], text: string): ApiKey | undefined {
  if (text === "") return undefined;
  const found = keys.find(({ id }) => id === text) ?? keys.find(({ name }) => name === text);
  if (found === undefined) throw new Refusal(400, `There is no key "${text}": give its name or its id.`);
  return found;
}

function formOf(query: URLSearchParams, now: number): UsageForm {
  const by = choiceOf(query, "by", ["day", "hour"]);
  const other = fieldOf(query, "other") ?? "";
  const mostHours = other === "" ? mostHourDays : mostComparedDays;
  const from = fieldOf(query, "from") ?? dayName(now - (by === "hour" ? mostHours - 1 : 29) * day);
  const to = fieldOf(query, "to") ?? dayName(now);
  const days = (timeIn(to, "To") - timeIn(from, "From")) / day + 1;
  const most = by === "hour" ? mostHours : mostDays;
  if (days < 1 || days > most) throw new Refusal(400, `Give a time of 1 to ${most} days.`);
  if (by === "hour" && timeIn(from, "From") < now - hoursKept) {
    throw new Refusal(400, `Hours are kept for ${hoursKept / day} days: give a later time, or choose days.`);
  }
  return { from, to, by, key: fieldOf(query, "key") ?? "", other };
}

const queryOf = ({ from, to, by }: UsageForm): UsageQuery => ({
  from: timeIn(from, "From"),
  to: timeIn(to, "To") + day,
  span: by === "hour" ? hour : day,
});
