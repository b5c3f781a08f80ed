/** Prometheus metrics of the service. Labels have few values and must not contain items, keys or raw paths. */
import { Counter, Histogram, Registry } from "prom-client";

export type Metrics = ReturnType<typeof createMetrics>;

export function createMetrics() {
  const registry = new Registry();
  const registers = [registry];
  return {
    registry,
    requests: new Counter({
      name: "idv_requests_total",
      help: "Requests answered.",
      labelNames: ["method", "path", "status"],
      registers,
    }),
    items: new Counter({
      name: "idv_items_total",
      help: "Items given a status.",
      labelNames: ["kind", "status"],
      registers,
    }),
    duration: new Histogram({
      name: "idv_request_duration_seconds",
      help: "Time from receiving the request header to sending the end of the response.",
      labelNames: ["path"],
      buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5],
      registers,
    }),
    dropped: new Counter({
      name: "idv_connections_dropped_total",
      help: "Connections closed because there were too many.",
      registers,
    }),
    lostLines: new Counter({
      name: "idv_log_lines_lost_total",
      help: "Log lines lost because the reader was too slow or the disk was full.",
      registers,
    }),
    refusals: new Counter({
      name: "idv_quota_refusals_total",
      help: "Requests refused because no units were left.",
      registers,
    }),
  };
}
