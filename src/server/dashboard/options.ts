/** Options of the dashboard, and those that its routes get. */
import type { FastifyBaseLogger, FastifyPluginAsync } from "fastify";
import type { Classifier } from "../../core/classifier/classifier.js";
import type { ServiceStore } from "../../state/service/service-store.js";
import type { Lists } from "../lists/lists.js";
import type { ServerFigures } from "../service/metrics.js";

export interface DashboardOptions {
  readonly store: ServiceStore;
  readonly classifier: Pick<Classifier, "classify">;
  /** Origin at which people reach the service, such as `https://validation.example.com`. */
  readonly baseUrl: string | undefined;
  readonly figures: () => Promise<ServerFigures>;
  readonly terms: () => readonly (readonly [term: string, text: string])[];
  readonly lists: Lists | undefined;
  readonly log: FastifyBaseLogger;
  /** A proxy that signs people in. `header` is the field with the name of the person, in lower case. */
  readonly proxy: { readonly header: string; isTrusted(address: string | undefined): boolean } | undefined;
}

export type Routes = FastifyPluginAsync<Omit<DashboardOptions, "log">>;
