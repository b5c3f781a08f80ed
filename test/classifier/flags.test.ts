/** Covers the flags of items: facts beside the verdict. */
import { expect, test } from "vitest";
import type { Flag } from "../../src/core/classifier/flags/flag-names.js";
import { flagsOf } from "../../src/core/classifier/flags/flags.js";
import { isParkingHost, mailServiceOf, mailServices } from "../../src/core/classifier/flags/mail-services.js";

test.each<[string, readonly Flag[]]>([
  ["ann@larch-and-oak.com", []],
  ["sales@larch-and-oak.com", ["role"]],
  ["Sales+Berlin@larch-and-oak.com", ["role"]],
  ["buchhaltung@larch-and-oak.com", ["role"]],
  ["ventas@larch-and-oak.com", ["role"]],
  ["compta@larch-and-oak.com", ["role"]],
  ["salesman@larch-and-oak.com", []],
  ["alla@larch-and-oak.com", []],
  ["asdf@larch-and-oak.com", ["gibberish"]],
  ["none@larch-and-oak.com", ["gibberish"]],
  ["ann.keller@gmail.com", ["free-provider"]],
  ["ann@Hotmail.SE", ["free-provider"]],
  ["info@web.de", ["role", "free-provider"]],
  // Mailboxes for customers only.
  ["ann@comcast.net", []],
  ["no-reply@larch-and-oak.com", ["role", "no-reply"]],
  ["do.not.reply.77@larch-and-oak.com", ["no-reply"]],
  ["shop-noreply@larch-and-oak.com", ["no-reply"]],
  ["noreplyson@larch-and-oak.com", ["no-reply"]],
  ["x7k2@duck.com", ["relay"]],
  ["x@ann.anonaddy.com", ["relay"]],
  ["5551234567@vtext.com", ["sms-gateway"]],
  ["5551234567@x.vtext.com", []],
  ["a.n.n.lee@gmail.com", ["free-provider", "dotted-variant"]],
  ["An.Nl.E.e+x@googlemail.com", ["free-provider", "dotted-variant"]],
  ["a.n.n.lee@web.de", ["free-provider"]],
  ["info@[192.0.2.1]", []],
  ["info@@x", []],
  ["", []],
])("%s has the flags %j", (address, flags) => expect(flagsOf("email", address)).toEqual(flags));

test.each(
  (
    "asdasd qweqwe abcabc asdfgh lkjhgfdsa poiuy zxcv sdfgsd dfgdfg xcxcxc bcdbcd aaaa abcdef qwer.ty nomail " +
    "no_email fakeemail dontknow+x nospam77 testtest blahblah"
  ).split(" "),
)("%s@ is gibberish", (local) => expect(flagsOf("email", `${local}@larch-and-oak.com`)).toContain("gibberish"));

// Names of people and their short forms, and mailboxes that companies have.
test.each(
  (
    "ann lee lili jojo mimi coco feifei tingting yanyan dandan lingling alaska dallas salas jalal sasha ghassal hassan " +
    "jjj mmm test info abc jkl asd ada otto anna hannah bonbon tomtom papa wer were poirot power qwerin alfa " +
    "maria.de.la.cruz j.r.smith jose.luis.garcia.lopez 12345678 x7k2 kjell ljubljana jd.k 王芳"
  ).split(" "),
)("%s@ is a name like any other", (local) => {
  for (const domain of ["larch-and-oak.com", "gmail.com"]) {
    const flags = flagsOf("email", `${local}@${domain}`);
    expect(flags.filter((flag) => flag === "gibberish" || flag === "dotted-variant")).toEqual([]);
  }
});

test.each<[string, string, readonly Flag[]]>([
  ["larch-and-oak.com", "aspmx.l.google.com", ["mx:google"]],
  ["larch-and-oak.com", "alt1.aspmx.l.google.com", ["mx:google"]],
  ["larch-and-oak.com", "larchandoak-com.mail.protection.outlook.com", ["mx:microsoft"]],
  ["larch-and-oak.com", "mx00.ionos.de", ["mx:ionos"]],
  ["larch-and-oak.com", "mail.larch-and-oak.com", []],
  ["larch-and-oak.com", "xgoogle.com", []],
  ["larch-and-oak.com", "park-mx.above.com", ["parked"]],
  ["larch-and-oak.com", "mail.h-email.net", ["parked"]],
  ["gmail.com", "gmail-smtp-in.l.google.com", ["free-provider"]],
])("the domain %s with the exchange %s has the flags %j", (domain, mx, flags) => {
  expect(flagsOf("domain", domain, mx)).toEqual(flags);
});

test("services have names that a filter can take, and none is a host for parked domains", () => {
  for (const service of mailServices) expect(service).toMatch(/^[a-z]+$/);
  expect(mailServiceOf("mail.h-email.net")).toBeUndefined();
  expect(isParkingHost("aspmx.l.google.com")).toBe(false);
});
