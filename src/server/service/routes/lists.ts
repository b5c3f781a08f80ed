/** Routes for lists, which are checked after they have been sent: send, look, fetch, remove. */
import type { FastifyInstance, FastifyRequest } from "fastify";
import { type Kind, knownStatuses } from "../../../core/validator/validator.js";
import type { ApiKey } from "../../../state/service/api-key.js";
import { type StoredList, senderOf } from "../../../state/service/lists.js";
import type { ServiceStore } from "../../../state/service/service-store.js";
import { readFormats } from "../../../text.js";
import { type DoneResult, doneResult, type ListChoices, mostLists } from "../../lists/list-facts.js";
import type { Lists } from "../../lists/lists.js";
import { sendFile, sendResult } from "../../lists/transfers.js";
import { Refusal } from "../../refusal.js";
import { submissionSchema, text } from "../body-schemas.js";
import { errorResponses, idempotencyKeySchema, jsonOf, noQuery } from "../openapi.js";
import { fileIn, receive } from "./list-upload.js";
import { idempotencyKeyOf, type JudgingRoutes } from "./validate.js";

interface ListRouteOptions extends Pick<JudgingRoutes["judging"], "refuse"> {
  readonly lists: Lists;
  readonly store: Pick<ServiceStore, "record">;
}

interface SubmitQuery {
  readonly kind: Kind;
  readonly name: string;
  readonly column?: string;
  readonly delimiter?: string;
  readonly drop?: string;
  readonly split: Flag;
  readonly explain: Flag;
  readonly dns: Flag;
}

type Flag = "true" | "false";

type ListRequest = FastifyRequest<{ Params: { readonly id: string }; Querystring: { readonly file?: string } }>;

const idParameter = { type: "object", properties: { id: { ...text("Id of the list."), maxLength: 32 } } };

/** Describes a request about one list. */
const ofList = (operationId: string, summary: string, response: object, codes: readonly number[] = []) => ({
  // Before a body, which none of them needs.
  onRequest: async (request: ListRequest) => void (await request.authorise()),
  schema: {
    ...{ summary, operationId, params: idParameter, querystring: noQuery },
    response: {
      ...response,
      404: jsonOf("The key has no such list, or it has no such file.", "Error"),
      ...errorResponses(400, 401, 429, 503, ...codes),
    },
  },
});
const ofResult = (operationId: string, summary: string, description: string, type: string) =>
  ofList(operationId, summary, {
    200: { description, content: { [type]: { schema: { type: "string", format: "binary" } } } },
    409: jsonOf("The list is not done.", "Error"),
  });

export async function listRoutes(service: FastifyInstance, { lists, store, refuse }: ListRouteOptions): Promise<void> {
  const listOf = async (request: ListRequest): Promise<StoredList> => {
    const key = await request.authorise();
    const list = await lists.get(request.params.id);
    const isOwn = list !== undefined && list.keyId === key.id && list.who === senderOf(key.id);
    if (!isOwn) throw new Refusal(404, "No such list.");
    return list;
  };

  /** Refuses a request before its list arrives. */
  const enter = async (request: FastifyRequest, kind: Kind = "email") => {
    const key = await request.authorise(kind === "domain" ? "domains" : "emails");
    if (key.isSandbox) throw new Refusal(403, "A sandbox key cannot check lists.");
    const once = idempotencyKeyOf(request);
    const isSent = once !== undefined && (await lists.store.has(key.id, once));
    if (key.quota.left === 0 && !isSent) refuse(key);
  };

  service.get(
    "/lists",
    {
      schema: {
        summary: `Returns the lists of the key, the newest first; at most ${mostLists}.`,
        ...{ operationId: "get_lists", querystring: noQuery },
        response: { 200: jsonOf("The lists.", "Lists"), ...errorResponses(400, 401, 429, 503) },
      },
    },
    async (request) => {
      const { id } = await request.authorise();
      return { lists: (await lists.all(id)).map(toAnswer) };
    },
  );

  service.register(async (uploads) => {
    uploads.removeAllContentTypeParsers();
    uploads.addContentTypeParser("*", (_request, payload, done) => done(null, payload));
    uploads.post(
      "/lists",
      {
        config: { readsBody: true },
        schema: {
          summary: `Takes a list: ${readFormats}. It is checked as soon as a server is free.`,
          operationId: "submit_list",
          headers: idempotencyKeySchema,
          querystring: submissionSchema,
          response: {
            202: {
              ...jsonOf("The list was taken. Location is its address.", "List"),
              headers: { Location: { type: "string", description: "Address of the list." } },
            },
            ...errorResponses(400, 401, 403, 409, 410, 413, 415, 422, 429, 503, 507),
          },
        },
        onRequest: (request: FastifyRequest) => enter(request, (request.query as Partial<SubmitQuery>).kind),
      },
      async (request, reply) => {
        const { name, kind, column, delimiter, drop, split, explain, dns } = request.query as SubmitQuery;
        const { id } = request.apiKey as ApiKey;
        const choices: ListChoices = {
          ...{ column: column || undefined, delimiter, drop: statusesIn(drop) },
          ...{ isSplit: split === "true", isExplained: explain === "true", dns: dns === "true" },
        };
        const bytes = Number(request.headers["content-length"] ?? 0);
        const sent = { name, kind, who: senderOf(id), keyId: id, bytes };
        request.items = 1;
        const list = await receive(request.raw, (content) => {
          const list = fileIn(content, request.headers["content-type"] ?? "");
          return lists.submit(list, sent, choices, idempotencyKeyOf(request));
        }).catch((error) => {
          reply.header("connection", "close");
          throw error;
        });
        return reply.code(202).header("location", `/lists/${list.id}`).send(toAnswer(list));
      },
    );
  });

  service.get(
    "/lists/:id",
    ofList("get_list", "Returns a list: its state, progress, counts and units.", { 200: jsonOf("The list.", "List") }),
    async (request: ListRequest) => toAnswer(await listOf(request)),
  );

  service.post(
    "/lists/:id/run",
    ofList(
      "run_list",
      "Checks the rest of a list whose units have ended, or tries a failed one again. Nothing is charged twice.",
      {
        202: jsonOf("The list waits for a server.", "List"),
        409: jsonOf("All of the list was checked, or it is not done yet.", "Error"),
      },
      [403],
    ),
    async (request: ListRequest, reply) => {
      const { id, kind } = await listOf(request);
      const key = await request.authorise(kind === "domain" ? "domains" : "emails");
      if (key.quota.left === 0) refuse(key);
      const queued = await lists.start(id);
      if (queued === undefined) throw new Refusal(409, "There is nothing left to check.");
      await store.record({ who: senderOf(key.id), what: `list run again: ${queued.name}`, keyId: key.id });
      return reply.code(202).send(toAnswer(queued));
    },
  );

  const result = ofResult(
    "get_list_result",
    "Returns the checked list; the ending of its name decides the format.",
    "The checked list, or one of its files.",
    "application/octet-stream",
  );
  const file = { ...text("Name of a file; needed if there are several."), maxLength: 200 };
  service.get(
    "/lists/:id/result",
    { ...result, schema: { ...result.schema, querystring: { ...noQuery, properties: { file } } } },
    async (request: ListRequest, reply) => {
      const list = await listOf(request);
      const { files } = resultOf(list);
      if (request.query.file === undefined && files.length > 1) {
        const names = files.map(({ name }) => name).join(", ");
        throw new Refusal(400, `The list has several files; name one as ?file=NAME: ${names}.`);
      }
      const file = files.find(({ name }) => name === (request.query.file ?? files[0]?.name));
      if (file === undefined) throw new Refusal(404, "No such file.");
      return sendResult(reply, lists.files.resultPath(list, file.name), file.name);
    },
  );

  service.get(
    "/lists/:id/report",
    ofResult("get_list_report", "Returns the report on a list as an HTML page.", "The report.", "text/html"),
    async (request: ListRequest, reply) => {
      const list = await listOf(request);
      resultOf(list);
      // Saved, not shown: the page belongs to this origin, and to no person who is signed in.
      reply.header("content-disposition", 'attachment; filename="report.html"');
      return sendFile(reply, lists.files.reportPath(list), "text/html; charset=utf-8");
    },
  );

  service.delete(
    "/lists/:id",
    ofList("delete_list", "Removes a list and its files; a run of it stops. Units that were charged stay charged.", {
      204: { description: "The list was removed.", type: "null" },
    }),
    async (request: ListRequest, reply) => {
      const { id, name, who, keyId } = await listOf(request);
      await lists.remove(id);
      await store.record({ who, what: `list removed: ${name}`, keyId: keyId ?? "" });
      return reply.code(204).send();
    },
  );
}

function statusesIn(text: string | undefined): readonly string[] {
  const statuses = text === undefined || text === "" ? [] : text.split(",");
  const known: readonly string[] = [...knownStatuses, "empty"];
  if (!statuses.every((status) => known.includes(status)))
    throw new Refusal(400, `drop: takes statuses such as ${knownStatuses.join(", ")}, and empty.`);
  return statuses;
}

function resultOf(list: StoredList): DoneResult {
  const result = doneResult(list);
  if (result !== undefined) return result;
  const { fault } = (list.state === "failed" ? list.result : {}) as { readonly fault?: string };
  throw new Refusal(409, fault === undefined ? "The list is not done." : `The list cannot be checked: ${fault}.`);
}

const time = (milliseconds: number): string => new Date(milliseconds).toISOString();

function toAnswer(list: StoredList) {
  const { id, name, kind, state, created, changed, progress, result } = list;
  const done = doneResult(list);
  return {
    ...{ id, name, kind, state, created: time(created), changed: time(changed) },
    progress: (state === "running" && progress) || null,
    summary: done === undefined ? null : { ...done.facts, isExhausted: done.isExhausted },
    files: done?.files ?? [],
    fault: state === "failed" ? (result as { readonly fault: string }).fault : null,
  };
}
