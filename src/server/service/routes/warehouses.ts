/**
 * Routes for functions in SQL of two warehouses, with the bodies that these send: remote functions of BigQuery
 * (https://cloud.google.com/bigquery/docs/remote-functions) and external functions of Snowflake
 * (https://docs.snowflake.com/en/sql-reference/external-functions-data-format). Both repeat requests: their ids of a
 * batch are keys of idempotency. Neither can wait for a quota, and both repeat a 429 for minutes: what is not checked is
 * `quota_exceeded`.
 */
import { createHash } from "node:crypto";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { Cells, usualCells } from "../../../core/run/items/cells.js";
import { itemKey } from "../../../core/run/items/item.js";
import { Refusal } from "../../refusal.js";
import * as openapi from "../openapi.js";
import { tooManyItems } from "../plugins/json-body.js";
import { type JudgingRoutes, operations } from "./validate.js";

interface Warehouse {
  readonly name: string;
  readonly title: "BigQuery" | "Snowflake";
  readonly call: string;
  /** Neither can send an Authorization field of its own choice. */
  secretOf(request: FastifyRequest): unknown;
  /** Then the key is known only when the body has arrived. */
  readonly hasKeyInBody: boolean;
  /** Identifies the batch in all of its tries. */
  batchOf(request: FastifyRequest): unknown;
  /** Null for a NULL. */
  itemsOf(body: unknown): readonly (string | null)[];
  answerOf(body: unknown, statuses: readonly (string | null)[]): object;
}

interface BigQueryBody {
  readonly requestId?: string;
  readonly caller?: string;
  readonly userDefinedContext?: Readonly<Record<string, string>>;
  readonly calls: readonly (readonly [string | null])[];
}

type SnowflakeBody = { readonly data: readonly (readonly [row: number, item: unknown])[] };

const warehouses: readonly Warehouse[] = [
  {
    name: "bigquery",
    title: "BigQuery",
    call: "a remote function",
    hasKeyInBody: true,
    secretOf: ({ body }) => (body as BigQueryBody | undefined)?.userDefinedContext?.["idv_key"],
    batchOf: ({ body }) => {
      const { caller = "", requestId } = body as BigQueryBody;
      return requestId && `${caller} ${requestId}`;
    },
    itemsOf: (body) => (body as BigQueryBody).calls.map(([item]) => item),
    answerOf: (_, replies) => ({ replies }),
  },
  {
    name: "snowflake",
    title: "Snowflake",
    call: "an external function",
    hasKeyInBody: false,
    secretOf: ({ headers }) => headers["sf-custom-idv-key"],
    batchOf: ({ headers }) => headers["sf-external-function-query-batch-id"],
    itemsOf: (body) =>
      (body as SnowflakeBody).data.map(([row, item]) => {
        if (Number.isInteger(row) && (item === null || typeof item === "string")) return item;
        throw new Refusal(400, "data: each row is its number and a text.");
      }),
    answerOf: (body, statuses) => ({ data: (body as SnowflakeBody).data.map(([row], i) => [row, statuses[i]]) }),
  },
];

/** Rows are arrays: each request has as many of these as items. */
export async function warehouseRoutes(service: FastifyInstance, { maximumItems, judging }: JudgingRoutes) {
  for (const { field, kind, what } of operations) {
    for (const { name, title, call, hasKeyInBody, secretOf, batchOf, itemsOf, answerOf } of warehouses) {
      const enter = async (request: FastifyRequest) => {
        const secret = secretOf(request);
        if (typeof secret === "string") request.headers.authorization = `Bearer ${secret}`;
        await request.authorise(field);
      };
      service.post(`/${field}/${name}`, {
        config: { hasRows: true },
        schema: {
          summary: `Validates ${what} for ${call} of ${title}: at most ${maximumItems} rows; each distinct item costs one unit.`,
          operationId: `${name}_${field}`,
          querystring: openapi.noQuery,
          body: { content: { "application/json": { schema: openapi.schemaOf(`${title}Request`) } } },
          response: {
            200: openapi.jsonOf("A status for each row, in their order.", `${title}Response`),
            ...openapi.errorResponses(400, 401, 403, 413, 415, 429, 503),
          },
        },
        [hasKeyInBody ? "preValidation" : "onRequest"]: enter,
        handler: async (request: FastifyRequest, reply) => {
          const rows = itemsOf(request.body);
          if (rows.length > maximumItems) throw tooManyItems(maximumItems);
          // As in tables: without what surrounds an item, and the same in any case. A row is for one item.
          const cells = new Cells({ ...usualCells, kind });
          const found = rows.map((row) => {
            const items = row === null ? [] : cells.itemsIn(row);
            return items.length > 1 ? row! : (items[0] ?? "");
          });
          const items = [...new Map(found.filter((item) => item !== "").map((item) => [itemKey(item), item])).values()];
          const content = Buffer.from(JSON.stringify(items));
          const batch = batchOf(request);
          // Part of the key is the content: an id that comes again with other rows is another request.
          const idempotencyKey =
            batch === undefined || batch === ""
              ? undefined
              : createHash("sha256").update(`${name} ${kind} ${batch}\0`).update(content).digest("hex");
          const answerWith = (statuses: readonly string[]) => {
            const statusOf = new Map(items.map((item, i) => [itemKey(item), statuses[i] ?? "quota_exceeded"]));
            return answerOf(
              request.body,
              found.map((item) => (item === "" ? null : statusOf.get(itemKey(item))!)),
            );
          };
          request.items = items.length;
          const wanted = { kind, idempotencyKey, body: content, hasDetails: false, items: () => items };
          const answer = await judging.answer(request, field, wanted, async (_, verdicts) =>
            answerWith(verdicts.map(({ status }) => status)),
          );
          return reply.send(answer ?? answerWith([]));
        },
      });
    }
  }
}

declare module "fastify" {
  interface FastifyContextConfig {
    /** Whether each item is in an array of its own. */
    hasRows?: boolean;
  }
}
