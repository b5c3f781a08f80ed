/** What the dashboard is opened with, and what its routes get of it. */
import type { FastifyBaseLogger } from "fastify";
import type { Classifier } from "../classifier/classifier.js";
import type { ServiceStore } from "../store/state/service-store.js";
import type { ListRunner } from "./list-job.js";
import type { Lists } from "./lists.js";

export interface DashboardOptions {
  readonly store: ServiceStore;
  readonly classifier: Pick<Classifier, "classify">;
  readonly now: () => number;
  readonly refusals: () => Promise<number>;
  /** Further facts for the overview: version, age of the data. */
  readonly facts: () => readonly (readonly [term: string, text: string])[];
  readonly runner: ListRunner;
  readonly log: FastifyBaseLogger;
}

export type RouteOptions = Omit<DashboardOptions, "log"> & { readonly lists: Lists };
