/** Covers placeholders instead of addresses. */
import { describe, expect, test } from "vitest";
import { reasonOf } from "../../support/mailbox-reason.js";

describe("placeholders", () => {
  test("include names at a provider's country domains", () => {
    expect(reasonOf("test", "hotmail.se")).toBe("placeholder");
    expect(reasonOf("test", "yahoo.com.vn")).toBe("placeholder");
  });

  test.each([
    ...["test", "TEST", "asdf", "asdff", "qwerty", "foo", "bar", "fake", "none", "null", "nobody", "example"],
    ...["noemail", "aaa", "xxxxxxx", "qwert", "zxcvb", "sdfg"],
  ])("include %s, at free-mail providers only", (local) => {
    expect(reasonOf(local, "hotmail.com")).toBe("placeholder");
    expect(reasonOf(local, "larch-and-oak.com")).not.toBe("placeholder");
  });

  test("take precedence over mailboxes that the provider cannot have", () => {
    expect(reasonOf("test", "gmail.com")).toBe("placeholder");
    expect(reasonOf("xxx", "icloud.com")).toBe("placeholder");
  });

  test.each(["test1", "tester", "me", "mail", "user", "x", "aa", "1234", "12345678", "xkcdqp", "foobar", "ert", "asd"])(
    "do not include %s",
    (local) => expect(reasonOf(local, "hotmail.com")).not.toBe("placeholder"),
  );

  test.each([
    ["you", "domain.com"],
    ["YourName", "yourdomain.com"],
    ["your.email", "mydomain.com"],
    ["name", "company.com"],
    ["test", "test.com"],
    ["None", "none.com"],
    ["asdf", "asdf.net"],
  ])("include the sample %s@%s", (local, domain) => expect(reasonOf(local, domain)).toBe("placeholder"));

  test.each([
    ["info", "domain.com"],
    ["young", "company.com"],
    ["names", "company.com"],
    ["you", "larch-and-oak.com"],
    ["name", "test.com"],
    ["ann", "test.com"],
    ["test", "test.larch-and-oak.com"],
    ["larch", "larch.com"],
  ])("do not include %s@%s", (local, domain) => expect(reasonOf(local, domain)).not.toBe("placeholder"));

  test("do not include numbers at QQ", () => {
    expect(reasonOf("888888", "qq.com")).not.toBe("placeholder");
    expect(reasonOf("888888", "hotmail.com")).toBe("placeholder");
  });
});
