/** The sessions of the dashboard, which anybody who is signed in may end. */
import type { FastifyInstance } from "fastify";
import { nameOf } from "../access.js";
import { fieldOf, formIn } from "../form.js";
import type { RouteOptions } from "../options.js";
import { sessionsPage } from "../pages/sessions.js";

export async function sessionsRoutes(
  pages: FastifyInstance,
  { store }: Pick<RouteOptions, "store">,
): Promise<void> {
  const page = async () => sessionsPage(await store.sessions.list());

  pages.get("/sessions", page);

  pages.post("/sessions/end", async (request) => {
    const id = fieldOf(formIn(request), "id") ?? "";
    if (await store.sessions.end(id)) {
      await store.record({ who: nameOf(request), what: `session ended: ${id}`, keyId: "" });
    }
    return page();
  });
}
