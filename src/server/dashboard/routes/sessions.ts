/** Signing in with a link of `idv dashboard`, and out; the list of sessions, which anybody who is signed in may end. */
import type { FastifyRequest } from "fastify";
import { nameOf, sessionSecret, setSession } from "../access.js";
import { fieldOf, formIn, queryIn } from "../form.js";
import type { Routes } from "../options.js";
import { sessionsPage } from "../pages/sessions.js";
import { signedOutPage, signInPage } from "../pages/sign-in.js";

export const sessionsRoutes: Routes = async (pages, { store }) => {
  const config = { isPublic: true };
  pages.get("/sign-in", { config }, async (request) => signInPage(queryIn(request).get("token") ?? ""));

  pages.post("/sign-in", { config }, async (request, reply) => {
    const secret = await store.sessions.signIn(fieldOf(formIn(request), "token") ?? "");
    if (secret === undefined) {
      return reply
        .code(403)
        .send(signedOutPage("The link was used already, is older than 10 minutes, or was made for another state."));
    }
    setSession(request, reply, secret);
    const session = await store.sessions.find(secret);
    await store.record({ who: session?.name ?? `session ${session?.id}`, what: "signed in", keyId: "" });
    return reply.redirect("/dashboard", 303);
  });

  pages.post("/sign-out", async (request, reply) => {
    const secret = sessionSecret(request);
    // Somebody whom a proxy signs in has none.
    if (secret !== undefined) {
      await store.sessions.signOut(secret);
      await store.record({ who: nameOf(request), what: "signed out", keyId: "" });
    }
    setSession(request, reply, undefined);
    return signedOutPage("You are signed out.");
  });

  const page = async (request: FastifyRequest) => {
    const secret = sessionSecret(request);
    const own = secret === undefined ? undefined : await store.sessions.find(secret);
    return sessionsPage(await store.sessions.list(), own?.id);
  };

  pages.get("/sessions", page);

  pages.post("/sessions/end", async (request) => {
    const id = fieldOf(formIn(request), "id") ?? "";
    if (await store.sessions.end(id)) {
      await store.record({ who: nameOf(request), what: `session ended: ${id}`, keyId: "" });
    }
    return page(request);
  });
};
