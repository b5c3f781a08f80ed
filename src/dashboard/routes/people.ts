/** People, their sessions, and links for them. */
import type { FastifyInstance, FastifyRequest } from "fastify";
import { PersonError, roles } from "../../store/state/people.js";
import { nameOf } from "../access.js";
import { choiceOf, fieldOf, formIn } from "../form.js";
import type { RouteOptions } from "../options.js";
import { linkPage, peoplePage } from "../pages/people.js";

export async function peopleRoutes(
  pages: FastifyInstance,
  { store, baseUrl }: Pick<RouteOptions, "store" | "baseUrl">,
): Promise<void> {
  const { people } = store;
  const page = async (said: { readonly fault?: string; readonly name?: string } = {}) =>
    peoplePage({ people: await people.list(), sessions: await people.sessions(), ...said });

  /** Makes a change of a person, who is named in the form; a fault is shown with the form. */
  const change = async (
    request: FastifyRequest,
    what: string,
    work: (name: string, form: URLSearchParams) => Promise<unknown>,
  ) => {
    const form = formIn(request);
    const name = fieldOf(form, "name") ?? "";
    if (name === "" || name.length > 100 || /\p{C}/u.test(name)) {
      return page({ name, fault: "Name: give 1 to 100 characters." });
    }
    try {
      const result = await work(name, form);
      await store.record({ who: nameOf(request), what: `${what}: ${name}`, keyId: "" });
      return typeof result === "string" ? result : page();
    } catch (error) {
      if (!(error instanceof PersonError)) throw error;
      return page({ name, fault: `${error.message.replace(/;.*/, "")}.` });
    }
  };

  pages.get("/people", () => page());

  pages.post("/people", (request) =>
    change(request, "person added", (name, form) => people.add(name, choiceOf(form, "role", roles))),
  );

  pages.post("/people/role", (request) =>
    change(request, "role changed", (name, form) => people.setRole(name, choiceOf(form, "role", roles))),
  );

  pages.post("/people/remove", (request) => change(request, "person removed", (name) => people.remove(name)));

  pages.post("/people/link", (request) =>
    change(request, "link made", async (name) => {
      const from = baseUrl ?? new URL(request.headers.origin!).origin;
      return linkPage(name, `${from}/dashboard/sign-in?token=${await people.createSignIn(name)}`);
    }),
  );

  pages.post("/people/end-session", async (request) => {
    const id = fieldOf(formIn(request), "id") ?? "";
    await people.endSession(id);
    await store.record({ who: nameOf(request), what: `session ended: ${id}`, keyId: "" });
    return page();
  });
}
