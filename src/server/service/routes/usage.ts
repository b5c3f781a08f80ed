/** Route for the usage of a key, as its client sees it. */
import type { FastifyInstance, FastifyRequest } from "fastify";
import type { ServiceStore } from "../../../state/service/service-store.js";
import { hoursKept } from "../../../state/service/usage.js";
import { day, hour, utcTime } from "../../../time.js";
import { Refusal } from "../../refusal.js";
import { errorResponses, jsonOf } from "../openapi.js";

type UsageQuery = { readonly from?: string; readonly to?: string; readonly by?: "hour" | "day" };

const mostSpans = 800;

const time = (description: string) => ({ type: "string", maxLength: 30, description });

const query = {
  type: "object",
  additionalProperties: false,
  properties: {
    from: time("Start as a day or a time in UTC, such as 2026-11-22; 29 days ago by default."),
    to: time("End as a day, which is counted, or a time; now by default."),
    by: { type: "string", enum: ["hour", "day"], default: "day", description: "Length of the spans, in UTC." },
  },
} as const;

export async function usageRoutes(
  service: FastifyInstance,
  { store }: { readonly store: Pick<ServiceStore, "usageByKey" | "now"> },
): Promise<void> {
  service.get(
    "/usage",
    {
      schema: {
        summary: `Returns the units that the key has used; hours of the last ${hoursKept / day} days.`,
        operationId: "get_usage",
        querystring: query,
        response: { 200: jsonOf("The usage, the oldest first.", "Usage"), ...errorResponses(400, 401, 429, 503) },
      },
    },
    async (request: FastifyRequest) => {
      const { id } = await request.authorise();
      const { from, to, by } = request.query as UsageQuery;
      const span = by === "hour" ? hour : day;
      const now = store.now();
      const start = from === undefined ? now - 29 * day : timeIn(from, "from", 0);
      const first = start - (start % span);
      const last = to === undefined ? now + 1 : timeIn(to, "to", span === day ? day : 0);
      if (first >= last || (last - first) / span > mostSpans) {
        throw new Refusal(400, `from, to: give a time of 1 to ${mostSpans} ${by ?? "day"}s.`);
      }
      const usage = [];
      for await (const sums of store.usageByKey({ from: first, to: last, span, keyId: id })) {
        for (const kind of new Set(sums.map(({ kind }) => kind))) {
          const ofKind = sums.filter((sum) => sum.kind === kind);
          const statuses = Object.fromEntries(ofKind.map(({ status, units }) => [status, units]));
          const { quota_exceeded: unchecked = 0 } = statuses;
          const units = ofKind.reduce((sum, { units }) => sum + units, 0) - unchecked;
          usage.push({ start: new Date(sums[0]!.start).toISOString(), kind, units, statuses });
        }
      }
      return { units: usage.reduce((sum, { units }) => sum + units, 0), usage };
    },
  );
}

/** `toEnd` milliseconds are added to a day, so that it is counted. @throws Refusal */
function timeIn(text: string, name: string, toEnd: number): number {
  const time = utcTime(text);
  if (time === undefined) throw new Refusal(400, `${name}: give a day or a time in UTC, such as 2026-11-22.`);
  return time + (text.includes("T") ? 0 : toEnd);
}
