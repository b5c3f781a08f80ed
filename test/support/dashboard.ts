/** Signs in to the dashboard of a service, and sends its forms, as a browser does. */
import { expect } from "vitest";
import { idv } from "./run-idv.js";
import type { RunSettings } from "./run-settings.js";

/** Fields of a form that was sent by a page of the service. */
export const ownFields = (url: string) => ({ origin: url, "sec-fetch-site": "same-origin" });

/** Sends a form to a path below the dashboard. */
export const postForm = (url: string, path: string, body: BodyInit, headers: Readonly<Record<string, string>> = {}) =>
  fetch(`${url}/dashboard${path}`, {
    ...{ method: "POST", redirect: "manual", body, headers: { ...ownFields(url), ...headers } },
  });

/** Returns a link that signs in at a URL, as `idv dashboard` prints it. */
export async function linkTo(url: string, args: readonly string[], settings: RunSettings = {}): Promise<string> {
  const { stdout, stderr } = await idv(["dashboard", "--base-url", url, ...args], settings);
  expect(stderr).toBe("idv: the link works once, for 10 minutes\n");
  return stdout.trim();
}

/** The token of a link, as its page sends it. */
export const tokenOf = (link: string) => new URLSearchParams({ token: new URL(link).searchParams.get("token")! });

/** Signs in with a link, and returns the cookie. */
export async function signIn(link: string): Promise<string> {
  const response = await postForm(new URL(link).origin, "/sign-in", tokenOf(link));
  expect(response.status).toBe(303);
  return response.headers.get("set-cookie")!.split(";")[0]!;
}
