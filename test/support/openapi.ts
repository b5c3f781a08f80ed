/** Checks the service's answers against its OpenAPI document. */
import { Ajv2020 } from "ajv/dist/2020.js";
import type { Lists } from "../../src/server/lists/lists.js";
import { createMetrics } from "../../src/server/service/metrics.js";
import { createService } from "../../src/server/service/service.js";
import type { ServiceStore } from "../../src/state/service/service-store.js";
import { classifier } from "./classifier.js";

type Schema = Readonly<Record<string, unknown>>;

interface Response {
  readonly content?: Readonly<Record<string, { readonly schema: Schema }>>;
}
interface Operation {
  readonly responses: Readonly<Record<string, Response>>;
}

/** Returns the OpenAPI document of the service, which is made without its state. */
export async function openApiDocument(): Promise<object> {
  const common = { maximumItems: 1000, corsOrigins: [], metrics: createMetrics(""), lists: {} as Lists };
  const service = createService({ store: {} as ServiceStore, classifier, ...common });
  await service.ready();
  return service.swagger();
}

const document = (await openApiDocument()) as { paths: Record<string, Record<string, Operation>> };
const { paths } = document;
const ajv = new Ajv2020({ allErrors: true });
ajv.addFormat("date-time", /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
ajv.addVocabulary(["openapi", "info", "servers", "security", "components", "paths"]);
// References of its schemas lead into it.
ajv.addSchema({ ...document, $id: "document" });

function faultsOf(schema: Schema, body: unknown) {
  const name = schema["$ref"] as string | undefined;
  const check = name === undefined ? ajv.compile(schema) : ajv.getSchema(`document${name}`)!;
  return check(body) ? [] : check.errors!;
}

/** Answer to a request that matches no operation. */
const refusal: Response = {
  content: {
    "application/json": {
      schema: { type: "object", required: ["message"], properties: { message: { type: "string" } } },
    },
  },
};

export interface ServiceAnswer {
  readonly method: string;
  readonly path: string;
  readonly status: number;
  readonly headers: Headers;
  readonly body: unknown;
}

/** Returns the operation of a request; a part of the path in braces stands for any text. */
function operationOf(method: string, path: string): Operation | undefined {
  const templates = Object.keys(paths).map(
    (template) => [template, new RegExp(`^${template.replace(/\{\w+\}/g, "[^/]+")}$`)] as const,
  );
  const [template = ""] = templates.find(([, pattern]) => pattern.test(path)) ?? [];
  return paths[template]?.[method.toLowerCase()];
}

/** Returns how an answer deviates from the OpenAPI document; empty if it conforms. */
export function checkAnswer({ method, path, status, headers, body }: ServiceAnswer): readonly string[] {
  const operation = operationOf(method, path);
  // The answer to a CORS preflight has no body.
  if (method === "OPTIONS" && status === 204) return [];
  const response = operation?.responses[status] ?? ([404, 405].includes(status) ? refusal : undefined);
  if (response === undefined) return [`${method} ${path}: ${status} is not in the document`];
  const [type = ""] = (headers.get("content-type") ?? "").split(";");
  if (response.content === undefined) return type === "" ? [] : [`${method} ${path}: ${status} has no body`];
  const content = response.content[type];
  if (content === undefined) return [`${method} ${path}: ${status} is not to have the type "${type}"`];
  // The metrics are text for Prometheus, without a schema.
  if (type !== "application/json") return [];
  return faultsOf(content.schema, body).map(
    ({ instancePath, message }) => `${method} ${path} ${status}: ${instancePath} ${message}`,
  );
}
