/** Covers forwarding relays. */
import { describe, expect, test } from "vitest";
import { relay } from "../../../src/core/classifier/rules/mailbox/relay.js";

describe("relays", () => {
  test.each([
    ["duck.com", "duckduckgo"],
    ["mozmail.com", "firefox-relay"],
    ["spamgourmet.com", "spamgourmet"],
    ["sneakemail.com", "sneakemail"],
    ["privaterelay.appleid.com", "apple-hide-my-email"],
    ["ann.anonaddy.com", "addy"],
    ["passmail.net", "proton-pass"],
    ["aleeas.com", "simplelogin"],
    ["appleid.com", undefined],
    ["notduck.com", undefined],
    ["gmail.com", undefined],
  ])("the relay of %s is %s", (ascii, expected) => expect(relay.at(ascii)?.find().subject).toBe(expected));
});
