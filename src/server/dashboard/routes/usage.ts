/** Usage by hours or days, as a page and as CSV. */
import type { FastifyRequest } from "fastify";
import type { ApiKey } from "../../../state/service/api-key.js";
import { hoursKept, type UsageQuery } from "../../../state/service/usage.js";
import { day, hour } from "../../../time.js";
import { Refusal } from "../../refusal.js";
import { choiceOf, fieldOf, queryIn, timeIn } from "../form.js";
import type { Routes } from "../options.js";
import { type ShownUsage, type UsageForm, usageCsv, usagePage } from "../pages/usage.js";
import { dayName, spansOf } from "../usage-spans.js";

/** Longest time shown, in days: by hours, of two keys by hours, and by days. */
const mostHourDays = 7;
const mostComparedDays = 3;
const mostDays = 366;

export const usageRoutes: Routes = async (pages, { store }) => {
  const formFor = async (request: FastifyRequest) => {
    const keys = await store.list();
    return { form: formOf(queryIn(request), store.now(), keys), keys };
  };
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
    const { form, keys } = await formFor(request);
    return usagePage(form, await shownFor(form, keys), keys, store.now());
  });

  pages.get("/usage.csv", async (request, reply) => {
    const { form, keys } = await formFor(request);
    if (form.fault !== undefined) throw new Refusal(400, form.fault);
    const [usage] = await shownFor({ ...form, other: "" }, keys);
    reply.header("content-disposition", `attachment; filename="usage-${form.from}-${form.to}.csv"`);
    return reply.type("text/csv; charset=utf-8").send(usageCsv(usage!.spans, form.by));
  });
};

/** Takes an id or a name. */
const keyOf = (keys: readonly ApiKey[], text: string): ApiKey | undefined =>
  keys.find(({ id }) => id === text) ?? keys.find(({ name }) => text !== "" && name === text);

/** A time that is too long is shortened, and an unknown key left out, with a fault that says so. */
function formOf(query: URLSearchParams, now: number, keys: readonly ApiKey[]): UsageForm {
  const by = choiceOf(query, "by", ["day", "hour"]);
  const names = ["key", "other"].map((field) => fieldOf(query, field) ?? "");
  const unknown = names.find((name) => name !== "" && keyOf(keys, name) === undefined);
  const [key = "", other = ""] = names.map((name) => (name === unknown ? "" : name));
  const most = by === "day" ? mostDays : other === "" ? mostHourDays : mostComparedDays;
  const form = { by, key, other, ...timeOf(query, by, most, now) };
  return unknown === undefined ? form : { ...form, fault: `There is no key "${unknown}": give its name or its id.` };
}

function timeOf(query: URLSearchParams, by: UsageForm["by"], most: number, now: number) {
  const usual = { from: dayName(now - (by === "hour" ? most - 1 : 29) * day), to: dayName(now) };
  const start = timeIn(fieldOf(query, "from") ?? usual.from, "From");
  const end = Math.min(timeIn(fieldOf(query, "to") ?? usual.to, "To"), timeIn(usual.to, "To"));
  if (start > end) return { ...usual, fault: "The time ends before it begins, or is yet to come." };
  if (by === "hour" && start < now - hoursKept)
    return { ...usual, fault: `Hours are kept for ${hoursKept / day} days: give a later time, or choose days.` };
  const earliest = end - (most - 1) * day;
  const time = { from: dayName(Math.max(start, earliest)), to: dayName(end) };
  return start >= earliest ? time : { ...time, fault: `By ${by}, at most ${most} days are shown.` };
}

const queryOf = ({ from, to, by }: UsageForm): UsageQuery => ({
  from: timeIn(from, "From"),
  to: timeIn(to, "To") + day,
  span: by === "hour" ? hour : day,
});
