import { Counter, Histogram, Registry } from "prom-client";

/** What the service counts, for Prometheus; labels have few values, and nothing of what is asked. */
export type Metrics = ReturnType<typeof createMetrics>;

export function createMetrics() {
  const registry = new Registry();
  const registers = [registry];
  return {
    registry,
    requests: new Counter({
      name: "idv_requests_total",
      help: "Requests that were answered.",
      labelNames: ["method", "path", "status"],
      registers,
    }),
    items: new Counter({
      name: "idv_items_total",
      help: "Items that were given a status.",
      labelNames: ["kind", "status"],
      registers,
    }),
    duration: new Histogram({
      name: "idv_request_duration_seconds",
      help: "From the request's first byte to the answer's last.",
      labelNames: ["path"],
      buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5],
      registers,
    }),
    dropped: new Counter({
      name: "idv_connections_dropped_total",
      help: "Connections that were closed to make room for new ones.",
      registers,
    }),
    lostLines: new Counter({
      name: "idv_log_lines_lost_total",
      help: "Lines of the log that nobody read in time, or the disk had no room for.",
      registers,
    }),
    refusals: new Counter({
      name: "idv_quota_refusals_total",
      help: "Requests that were refused because no validations were left.",
      registers,
    }),
  };
}
