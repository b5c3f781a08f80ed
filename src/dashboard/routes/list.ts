/** Checking a list: upload, choices, results and report. */
import { createReadStream } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { reportPolicy } from "../../report/policy.js";
import { isUsable } from "../../store/state/rules.js";
import type { ApiKey } from "../../store/state/service-store.js";
import { type Kind, knownStatuses } from "../../validator/validator.js";
import { choiceOf, fieldOf, formIn, numberOf } from "../form.js";
import type { RouteOptions } from "../options.js";
import { PageFault } from "../page-fault.js";
import { listPage, sendPage } from "../pages/list.js";

/** Longest wait for the rest of a refused upload, in milliseconds. */
const restMilliseconds = 3000;

export async function listRoutes(
  pages: FastifyInstance,
  { store, lists }: Pick<RouteOptions, "store" | "lists">,
): Promise<void> {
  const keysFor = async (kind: Kind): Promise<readonly ApiKey[]> => {
    const permission = kind === "email" ? "emails" : "domains";
    return (await store.list()).filter(
      (key) => isUsable(key, store.now()) && !key.isSandbox && key.permissions.includes(permission),
    );
  };

  const pageOf = async ({ session }: FastifyRequest, fault?: string) => {
    const job = lists.of(session);
    return job === undefined
      ? sendPage(lists.mostBytes, fault)
      : listPage(job, await keysFor(job.kind), fault);
  };

  pages.get("/list", (request) => pageOf(request));

  pages.register(async (uploads) => {
    uploads.removeAllContentTypeParsers();
    uploads.addContentTypeParser("*", (_request, _payload, done) => done(null));
    uploads.post("/list", async (request, reply) => {
      try {
        await lists.take(request, request.session);
        return reply.redirect("/dashboard/list", 303);
      } catch (error) {
        if (!(error instanceof PageFault)) throw error;
        // Browsers show an answer only when they have sent the whole upload; a long rest is not awaited.
        request.raw.resume();
        const arrived = new Promise((resolve) => request.raw.once("close", resolve).once("end", resolve));
        if (!request.raw.readableEnded) await Promise.race([arrived, sleep(restMilliseconds)]);
        reply.header("connection", "close");
        return reply.code(error.statusCode).send(sendPage(lists.mostBytes, error.message));
      }
    });
  });

  pages.post("/list/run", async (request, reply) => {
    const form = formIn(request);
    const job = lists.of(request.session);
    if (job?.state.name !== "detected") return reply.redirect("/dashboard/list", 303);
    const column = numberOf(form, "column", "Column") ?? job.state.table.column;
    const delimiter = choiceOf(form, "delimiter", ["", ",", ";", "tab", "|"]) || undefined;
    const drop = form
      .getAll("drop")
      .filter((status) => (knownStatuses as readonly string[]).includes(status));
    const keyId = fieldOf(form, "key") ?? "";
    const keys = await keysFor(job.kind);
    if (!keys.some(({ id }) => id === keyId)) return pageOf(request, "That key cannot be charged any more.");
    job.start({ keyId, column, delimiter, drop, isSplit: form.has("split"), dns: form.has("dns") });
    return reply.redirect("/dashboard/list", 303);
  });

  pages.post("/list/remove", async ({ session }, reply) => {
    await lists.remove(session);
    return reply.redirect("/dashboard/list", 303);
  });

  const file = "/list/file/:index(^\\d{1,2}$)";
  pages.get<{ Params: { readonly index: string } }>(file, async ({ session, params: { index } }, reply) => {
    const job = lists.of(session);
    const result = job?.state.name === "done" ? job.state.files[Number(index)] : undefined;
    if (job === undefined || result === undefined) throw new PageFault(404, "There is no such file.");
    const name = encodeURIComponent(result.name);
    reply.header("content-disposition", `attachment; filename*=UTF-8''${name}`);
    reply.header("content-length", result.bytes).type("application/octet-stream");
    return reply.send(createReadStream(job.pathOf(result.name)));
  });

  pages.get("/list/report", async ({ session }, reply) => {
    const job = lists.of(session);
    if (job?.state.name !== "done") throw new PageFault(404, "There is no report.");
    // The page has inline CSS, which the policy allows by hash.
    reply.header("content-security-policy", reportPolicy);
    return reply.send(createReadStream(job.reportPath));
  });
}
