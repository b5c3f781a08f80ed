/** Options of the dashboard, and those that its routes get. */
import type { FastifyBaseLogger } from "fastify";
import type { Classifier } from "../classifier/classifier.js";
import type { Lists } from "../lists/lists.js";
import type { ServiceStore } from "../store/state/service-store.js";

export interface DashboardOptions {
  readonly store: ServiceStore;
  readonly classifier: Pick<Classifier, "classify">;
  /** Origin at which people reach the service, such as `https://validation.example.com`. */
  readonly baseUrl: string | undefined;
  readonly refusals: () => Promise<number>;
  readonly terms: () => readonly (readonly [term: string, text: string])[];
  /** Undefined if there is no folder for lists. */
  readonly lists: Lists | undefined;
  readonly log: FastifyBaseLogger;
}

export type RouteOptions = Omit<DashboardOptions, "log">;
