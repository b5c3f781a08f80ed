/** Covers domains that are called like services for temporary mail, and names that only look like them. */
import { expect, test } from "vitest";
import { createClassifier } from "../../../src/core/classifier/classifier.js";
import { offeredDomains, privacyProviders } from "../../../src/core/classifier/flags/free-providers.js";
import { familyDomains, ispProviders } from "../../../src/core/classifier/known-providers.js";
import { mailcomDomains, majorProviders } from "../../../src/core/classifier/providers.js";
import { disposableName } from "../../../src/core/classifier/rules/domain/disposable-name.js";
import { compileDisposableTable, DisposableTable } from "../../../src/core/classifier/tables/disposable-table.js";
import { compileList } from "../../../src/core/classifier/tables/own-lists.js";

test.each([
  ["temp-mail-24.de", "temp-mail-24.de"],
  ["x.tempmail-larch.co.uk", "tempmail-larch.co.uk"],
  ["my20minutemail.net", "my20minutemail.net"],
  ["larch-disposableinbox.org", "larch-disposableinbox.org"],
  ["larch-mailinator.net", "larch-mailinator.net"],
  ["larchmail.xyz", "larchmail.xyz"],
  ["a.b.larchinbox.top", "larchinbox.top"],
])("%s is disposable: %s", (ascii, subject) => expect(disposableName.find(ascii)).toEqual({ subject }));

test.each([
  ...["larchmail.com", "mail.larch.xyz", "temp-mail.larch.com", "templates.com", "fakefinder.com", "inbox.lv"],
  ...["block-temp-mail.com", "tempmailchecker.com", "stop-fakemail.org", "verify-throwawaymail.io", "larch.xyz"],
  ...[...majorProviders, ...familyDomains, ...ispProviders, ...mailcomDomains, ...offeredDomains, ...privacyProviders],
])("%s is not disposable by its name", (ascii) => expect(disposableName.find(ascii)).toBeUndefined());

test("the user's allow list goes first, also for hosts below", () => {
  const table = new DisposableTable(compileDisposableTable([]));
  const lists = { allow: compileList("allow", ["temp-mail-24.de"]), deny: compileList("deny", []) };
  const judge = (own?: typeof lists) =>
    createClassifier(table, own).classify("email", "ann.lee@mx.temp-mail-24.de").status;
  expect([judge(), judge(lists)]).toEqual(["disposable", "ok"]);
});
