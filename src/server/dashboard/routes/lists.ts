/** Checking lists: upload, choices, results and report. All people see all lists. */
import type { FastifyRequest } from "fastify";
import type { Facts } from "../../../core/facts/facts.js";
import { reportPolicy, servedPolicy } from "../../../core/facts/render/html.js";
import { type Kind, knownStatuses } from "../../../core/validator/validator.js";
import type { ApiKey } from "../../../state/service/api-key.js";
import type { StoredList } from "../../../state/service/lists.js";
import { isUsable } from "../../../state/service/rules.js";
import { grouped } from "../../../text.js";
import { doneResult, type ListChoices } from "../../lists/list-facts.js";
import type { Lists } from "../../lists/lists.js";
import { readRest, sendFile, sendResult } from "../../lists/transfers.js";
import { Refusal } from "../../refusal.js";
import { nameOf } from "../access.js";
import { type BadRow, badRowsIn } from "../bad-rows.js";
import { choiceOf, fieldOf, formIn, numberOf } from "../form.js";
import type { Routes } from "../options.js";
import type { RefusedForm } from "../pages/field.js";
import { listPage } from "../pages/list.js";
import { listsPage } from "../pages/lists.js";
import { readUpload } from "../upload.js";

type ListRequest = FastifyRequest<{ Params: { readonly id: string; readonly index: string } }>;

export const listRoutes: Routes = async (pages, { store, lists: maybeLists }) => {
  const withLists = (): Lists => {
    if (maybeLists !== undefined) return maybeLists;
    throw new Refusal(404, "There is no folder for lists: see the page Lists.");
  };

  const keysFor = async (kind: Kind): Promise<readonly ApiKey[]> => {
    const permission = kind === "email" ? "emails" : "domains";
    return (await store.list()).filter(
      (key) => isUsable(key, store.now()) && !key.isSandbox && key.permissions.includes(permission),
    );
  };

  const allPage = async (fault?: string) => {
    if (maybeLists === undefined) return listsPage(undefined, fault);
    const names = new Map((await store.list()).map(({ id, name }) => [id, name]));
    const { mostBytes, keepMilliseconds } = maybeLists;
    return listsPage({ lists: await maybeLists.all(), names, mostBytes, keepMilliseconds }, fault);
  };

  const listOf = async ({ params: { id } }: ListRequest): Promise<StoredList> => {
    const list = await withLists().get(id);
    if (list === undefined || list.state === "arriving") throw new Refusal(404, "There is no such list.");
    return list;
  };

  const pageOf = async (list: StoredList, refused?: RefusedForm) =>
    listPage(list, { keys: await keysFor(list.kind), badRows: await badRowsOf(list), refused });

  const badRowsOf = async (list: StoredList): Promise<readonly BadRow[]> => {
    return doneResult(list) === undefined ? [] : badRowsIn(withLists().files.findingsPath(list));
  };

  pages.get("/lists", () => allPage());

  pages.register(async (uploads) => {
    uploads.removeAllContentTypeParsers();
    uploads.addContentTypeParser("*", (_request, _payload, done) => done(null));
    uploads.post("/lists", async (request, reply) => {
      try {
        const list = await readUpload(request, withLists());
        return reply.redirect(`/dashboard/lists/${list.id}`, 303);
      } catch (error) {
        if (!(error instanceof Refusal)) throw error;
        await readRest(request.raw);
        reply.header("connection", "close");
        return reply.code(error.statusCode).send(await allPage(error.message));
      }
    });
  });

  const path = "/lists/:id(^[A-Za-z0-9]{1,32}$)";

  pages.get(path, async (request: ListRequest) => pageOf(await listOf(request)));

  pages.post(`${path}/run`, async (request: ListRequest, reply) => {
    const form = formIn(request);
    const list = await listOf(request);
    const to = `/dashboard/lists/${list.id}`;
    if ((list.state !== "found" && list.state !== "failed") || list.found === undefined) return reply.redirect(to, 303);
    const { distinct, inputs } = list.found as Facts;
    const [input] = inputs as readonly [Facts["inputs"][number]];
    const sheet = fieldOf(form, "sheet");
    const isOtherSheet = sheet !== undefined && input.sheet?.others.includes(sheet) === true;
    // The columns that were chosen from are those of the sheet that was found. Tables of an archive differ.
    const isFound = isOtherSheet || inputs.length > 1;
    const column = isFound ? undefined : String(numberOf(form, "column", "Column") ?? input.column);
    const delimiter = isFound ? undefined : choiceOf(form, "delimiter", ["", ",", ";", "tab", "|"]) || undefined;
    const drop = (form.get("drop") ?? "")
      .split(",")
      .filter((status) => knownStatuses.some((known) => known === status));
    const wanted = fieldOf(form, "key") ?? "";
    const keys = await keysFor(list.kind);
    const key = keys.find(({ id }) => id === wanted) ?? keys.find(({ name }) => name === wanted);
    if (key === undefined) return pageOf(list, { form, fault: "There is no such key that can be charged." });
    const { left } = key.quota;
    // What another sheet needs is not known.
    if (!isOtherSheet && left !== null && left < distinct && !form.has("short")) {
      const fault = `The key has ${grouped(left)} units left, and the list may need ${grouped(distinct)}: choose another key, or check until the units run out.`;
      return pageOf(list, { form, fault, isShort: true });
    }
    const choices: ListChoices = {
      column,
      delimiter,
      sheet: isOtherSheet ? sheet : undefined,
      drop,
      isSplit: form.has("split"),
      isFixed: form.has("fix"),
      dns: form.has("dns"),
      skipsBadRows: form.has("skip"),
    };
    await withLists().start(list.id, { keyId: key.id, choices });
    await store.record({ who: nameOf(request), what: `charged for the list ${list.name}`, keyId: key.id });
    return reply.redirect(to, 303);
  });

  pages.post(`${path}/rest`, async (request: ListRequest, reply) => {
    const { id, name } = await listOf(request);
    if ((await withLists().start(id)) !== undefined)
      await store.record({ who: nameOf(request), what: `list run again: ${name}`, keyId: "" });
    return reply.redirect(`/dashboard/lists/${id}`, 303);
  });

  pages.post(`${path}/remove`, async (request: ListRequest, reply) => {
    const { id } = request.params;
    const list = await withLists().get(id);
    await withLists().remove(id);
    if (list !== undefined) await store.record({ who: nameOf(request), what: `list removed: ${list.name}`, keyId: "" });
    return reply.redirect("/dashboard/lists", 303);
  });

  pages.get(`${path}/file/:index(^\\d{1,2}$)`, async (request: ListRequest, reply) => {
    const list = await listOf(request);
    const file = doneResult(list)?.files[Number(request.params.index)];
    if (file === undefined) throw new Refusal(404, "There is no such file.");
    return sendResult(reply, withLists().files.resultPath(list, file.name), file.name);
  });

  pages.get(`${path}/report`, async (request: ListRequest, reply) => {
    const list = await listOf(request);
    if (list.state !== "done") throw new Refusal(404, "There is no report.");
    // The page has inline CSS, which the policy allows by hash.
    reply.header("content-security-policy", servedPolicy(reportPolicy));
    return sendFile(reply, withLists().files.reportPath(list), "text/html; charset=utf-8");
  });
};
