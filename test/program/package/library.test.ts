/** Covers idv as a library, from the built package. */
import { describe, expect, test } from "vitest";
import type * as Library from "../../../src/index.js";
import { startDnsServer } from "../../support/dns-server.js";

const { canonical, classifyDomain, flags, classifyEmail, createClassifier, createClient }: typeof Library =
  await import(new URL("../../../dist/library/index.js", import.meta.url).href);
const server = await startDnsServer();
const dns = { servers: [server.address] };

test("single items are classified without options", () => {
  const verdict = { status: "fake", reason: "typo-domain: gmial.com", suggestion: "grace.lee@gmail.com" };
  expect(classifyEmail("grace.lee@gmial.com")).toEqual(verdict);
  expect(classifyDomain("mailinator.com").status).toBe("disposable");
  expect(canonical("email", "Ann.Lee+news@googlemail.com")).toBe("annlee@gmail.com");
  expect(canonical("email", "a@@b")).toBeUndefined();
});

test.each<[string, "lenient" | "strict" | "browser", object]>([
  ["  ann@larch-and-oak.com\n", "lenient", { status: "ok" }],
  ["mailto:ann@larch-and-oak.com?subject=x", "lenient", { status: "ok" }],
  ["Annette <annette.lee@gmial.com>", "lenient", { status: "fake", suggestion: "annette.lee@gmail.com" }],
  ["", "lenient", { status: "fake" }],
  ["Ann Lee", "lenient", { status: "fake" }],
  [" ann@larch-and-oak.com", "strict", { status: "fake" }],
  ["mailto:ann@larch-and-oak.com", "strict", { status: "fake" }],
  ["ann@bücher.de", "strict", { status: "ok" }],
  ["ann@bücher.de", "browser", { status: "fake", reason: "syntax: no browser accepts it" }],
  ['"ann lee"@larch-and-oak.com', "browser", { status: "fake" }],
  [" ann@larch-and-oak.com\n", "browser", { status: "ok" }],
  ["ann@localhost", "browser", { status: "fake" }],
  ["x@mailinator.com", "browser", { status: "disposable" }],
])("%j is classified as a form gives it (%s)", (address, form, expected) => {
  expect(classifyEmail(address, { form })).toMatchObject(expected);
  if (form === "lenient") expect(classifyEmail(address)).toEqual(classifyEmail(address, { form }));
});

test("a kind or an option that there is not is a TypeError", async () => {
  const { classify, check } = createClassifier();
  const client = createClient({ baseUrl: "http://127.0.0.1:1", apiKey: "sk_x" });
  const kind = "emails" as "email";
  expect(() => classify(kind, "ann@larch-and-oak.com")).toThrow(new TypeError("unknown kind emails"));
  await expect(check(kind, "ann@larch-and-oak.com")).rejects.toThrow(TypeError);
  await expect(client.validate(kind, ["ann@larch-and-oak.com"]).next()).rejects.toThrow(TypeError);
  await client.close();
  for (const form of ["strict", { from: "strict" }])
    expect(() => classifyEmail("ann@larch-and-oak.com", form as object)).toThrow(TypeError);
});

test("flags are facts beside the verdict", () => {
  expect(flags("email", "info@gmail.com")).toEqual(["role", "free-provider"]);
  expect(flags("domain", "larch-and-oak.com", "ASPMX.L.google.com")).toEqual(["mx:google"]);
  expect(flags("email", "a@@b")).toEqual([]);
});

describe("a classifier", () => {
  test("knows the caller's lists", async () => {
    const classifier = createClassifier({ allow: ["mailinator.com"], deny: ["ann@larch-and-oak.com"] });
    const allowed = { status: "ok", reason: "allow-list: mailinator.com" };
    expect(classifier.classify("email", "a@mailinator.com")).toEqual(allowed);
    expect((await classifier.check("email", "Ann@larch-and-oak.com")).status).toBe("disposable");
  });

  test("tells where a verdict comes from", () => {
    const classifier = createClassifier({ deny: ["larch-and-oak.com"] });
    const why = classifier.why(classifier.classify("domain", "mailinator.com"));
    expect(why).toMatchObject({ rule: "disposable domain", listed: "mailinator.com", isOwn: false });
    const corrections = "https://github.com/7c/fakefilter/issues";
    expect(why.lists).toContainEqual({ name: "fakefilter", published: "2026-02-18", corrections });
    const accepted = { forPerson: "This address is accepted.", lists: [], isOwn: false };
    expect(classifier.why({ status: "ok" })).toEqual(accepted);
  });

  test.each([[{ allow: ["a b"] }], [{ deny: ["@"] }], [{ alow: ["b.net"] }]])("rejects %j", (options) => {
    expect(() => createClassifier(options as Library.ClassifierOptions)).toThrow(TypeError);
  });

  test("rejects what is no string, a form that there is not, and a URL without a scheme", () => {
    expect(() => classifyEmail(undefined as unknown as string)).toThrow("the address is not a string");
    expect(() => classifyEmail("a@b.net", { form: "strct" as "strict" })).toThrow("unknown form strct");
    expect(() => createClient({ baseUrl: "127.0.0.1:8787", apiKey: "k" })).toThrow("baseUrl must be");
  });

  const wrong = [{ servers: ["dns.example"] }, { servers: [] }, { servers: ["127.0.0.1:0"] }];
  test.each([...wrong, { concurrency: 0 }, { concurrency: 65 }])("rejects the DNS options %j", (options) =>
    expect(() => createClassifier({ dns: options })).toThrow(TypeError),
  );

  test("rejects a file that is no table", () => {
    expect(() => createClassifier({ table: "package.json" })).toThrow("not a table of disposable domains");
  });

  test("asks DNS if it may", async () => {
    const classifier = createClassifier({ dns });
    for (const [kind, item, verdict] of [
      ["email", "ann@nx-1.net", { status: "fake", reason: "no-such-domain: nx-1.net" }],
      ["email", "ann+x@ok.net", { status: "alias", reason: "sub-address: +x", mx: "mail.larch-and-oak.com" }],
      ["domain", "servfail.net", { status: "ok", reason: "undecided: SERVFAIL" }],
    ] as const) {
      expect(await classifier.check(kind, item)).toEqual(verdict);
    }
    expect(classifier.classify("email", "ann@nx-1.net")).toEqual({ status: "ok" });
  });

  test("asks about a domain once for calls at the same time", async () => {
    const own = await startDnsServer();
    const classifier = createClassifier({ dns: { servers: [own.address] } });
    await Promise.all(Array.from({ length: 500 }, (_, i) => classifier.check("email", `a${i}@nx-1.net`)));
    // A slow answer may make it resend.
    expect([...new Set(own.asked)]).toEqual(["MX nx-1.net"]);
  });

  test("leaves the verdict to the rules where a server denies every name", async () => {
    const wrong = await startDnsServer({ controlCodes: [3, 3] });
    const classifier = createClassifier({ dns: { servers: [wrong.address] } });
    expect(await classifier.check("email", "ann@nx-1.net")).toEqual({ status: "ok" });
    expect(wrong.asked).toEqual([]);
  });

  test("yields many verdicts in order, reads ahead and asks about a domain once", async () => {
    server.asked.length = 0;
    const items = Array.from({ length: 1000 }, (_, i) => `a${i}@${i % 3 ? "ok" : "nx"}-${i % 7}.net`);
    let read = 0;
    async function* source() {
      for (const item of items) {
        read++;
        yield item;
      }
    }
    const seen: string[] = [];
    for await (const { item, status } of createClassifier({ dns }).checkAll("email", source())) {
      expect(status).toBe(item.includes("@nx") ? "fake" : "ok");
      expect(read - seen.length).toBeLessThanOrEqual(256);
      seen.push(item);
    }
    expect(seen).toEqual(items);
    expect(new Set(server.asked)).toContain("A mail.larch-and-oak.com");
    expect(new Set(server.asked).size).toBe(15);
  });
});
