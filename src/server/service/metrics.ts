/** Prometheus metrics of the service. Labels have few values and must not contain items, keys or raw paths. */
import { sum } from "d3-array";
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from "prom-client";
import type { KeyLimit } from "../../state/service/api-key.js";
import type { ServiceStore } from "../../state/service/service-store.js";

export type Metrics = ReturnType<typeof createMetrics>;

/** Keys whose units are told: those with the smallest part of their limit left. */
const fullestKeys = 10;

/** The figures that the first page of the dashboard shows, since this server's start. */
export interface ServerFigures {
  readonly refused: number;
  /** Time in seconds that most checks took at most: 95 of 100. Infinity if it is over 2.5 s, undefined without checks. */
  readonly mostSeconds: number | undefined;
}

const shareOfMost = 0.95;
/** Statuses for a wrong key, a missing permission, and a used-up quota or rate. */
const refusals: readonly string[] = ["401", "403", "429"];

/** A value of a histogram, as prom-client gives it. */
interface Bucket {
  readonly metricName?: string;
  readonly labels: { readonly path?: string; readonly le?: string | number };
  readonly value: number;
}

export async function figuresOf(metrics: Pick<Metrics, "requests" | "duration">): Promise<ServerFigures> {
  const checks = new Map<number, number>();
  for (const { metricName, labels, value } of (await metrics.duration.get()).values as readonly Bucket[]) {
    if (metricName?.endsWith("_bucket") !== true || labels.path?.endsWith("/validate") !== true) continue;
    const seconds = labels.le === "+Inf" ? Number.POSITIVE_INFINITY : Number(labels.le);
    checks.set(seconds, (checks.get(seconds) ?? 0) + value);
  }
  const all = checks.get(Number.POSITIVE_INFINITY) ?? 0;
  const most = all === 0 ? undefined : [...checks].find(([, count]) => count >= shareOfMost * all)![0];
  const refused = sum((await metrics.requests.get()).values, ({ labels, value }) =>
    refusals.includes(String(labels.status)) ? value : 0,
  );
  return { refused, mostSeconds: most };
}

export function createMetrics(version: string) {
  const registry = new Registry();
  const registers = [registry];
  collectDefaultMetrics({ register: registry });
  new Gauge({ name: "idv_build_info", help: "Always 1.", labelNames: ["version"], registers }).set({ version }, 1);
  const counter = <Label extends string = never>(name: string, help: string, labelNames: readonly Label[] = []) =>
    new Counter({ name, help, labelNames, registers });
  const storeDuration = new Histogram({
    name: "idv_store_duration_seconds",
    help: "Time for a statement on the state: looking up a key, or a group of charges.",
    labelNames: ["operation"],
    buckets: [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5],
    registers,
  });
  return {
    registry,
    async timed<Result>(operation: "find" | "charge", work: Promise<Result>): Promise<Result> {
      const end = storeDuration.startTimer({ operation });
      try {
        return await work;
      } finally {
        end();
      }
    },
    watch(store: Pick<ServiceStore, "limits" | "pool">): void {
      new Gauge({
        name: "idv_store_connections",
        help: "Connections to the database, and calls that wait for one.",
        labelNames: ["state"],
        registers,
        collect() {
          for (const [state, count] of Object.entries(store.pool ?? {})) this.set({ state }, count);
        },
      });
      // The gauges are collected together, from one reading.
      let reading: Promise<readonly KeyLimit[]> | undefined;
      const fullest = () => {
        reading ??= fullestOf(store).finally(() => {
          reading = undefined;
        });
        return reading;
      };
      const gauges = [
        ["left", "Units left in the period"],
        ["limit", "Limit of the quota in units"],
      ] as const;
      for (const [name, help] of gauges) {
        new Gauge({
          name: `idv_key_units_${name}`,
          help: `${help}, for the ${fullestKeys} keys with the smallest part of their limit left.`,
          labelNames: ["key"],
          registers,
          async collect() {
            const keys = await fullest();
            this.reset();
            for (const key of keys) this.set({ key: key.id }, key[name]);
          },
        });
      }
    },
    requests: counter("idv_requests_total", "Requests answered.", ["method", "path", "status"]),
    items: counter("idv_items_total", "Items given a status.", ["kind", "status"]),
    duration: new Histogram({
      name: "idv_request_duration_seconds",
      help: "Time from receiving the request header to sending the end of the response.",
      labelNames: ["path"],
      buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5],
      registers,
    }),
    dropped: counter("idv_connections_dropped_total", "Connections closed because there were too many."),
    lostLines: counter(
      "idv_log_lines_lost_total",
      "Log lines lost because the reader was too slow or the disk was full.",
    ),
    rateRefusals: counter("idv_rate_refusals_total", "Requests refused because of the rate of their key."),
    refusals: counter("idv_quota_refusals_total", "Requests refused because no units were left."),
  };
}

async function fullestOf(store: Pick<ServiceStore, "limits">): Promise<readonly KeyLimit[]> {
  const shareLeft = ({ left, limit }: KeyLimit) => (limit === 0 ? 0 : left / limit);
  // A scrape does not fail with the state.
  const keys = await store.limits().catch(() => []);
  return [...keys].sort((a, b) => shareLeft(a) - shareLeft(b)).slice(0, fullestKeys);
}
