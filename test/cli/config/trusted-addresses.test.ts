/** Covers the addresses from which a proxy may name a person. */
import { expect, test } from "vitest";
import { trustOf } from "../../../src/cli/options/addresses.js";

test.each<[readonly string[], string | undefined, boolean]>([
  [["127.0.0.0/8", "::1", "unix"], "127.0.0.1", true],
  [["127.0.0.0/8", "::1", "unix"], "::1", true],
  [["127.0.0.0/8", "::1", "unix"], undefined, true],
  [["127.0.0.0/8", "::1", "unix"], "::ffff:127.0.0.1", true],
  [["127.0.0.0/8", "::1", "unix"], "10.0.0.1", false],
  [["10.0.0.0/8"], "10.255.0.1", true],
  [["10.0.0.0/8"], "::ffff:10.255.0.1", true],
  [["10.0.0.0/8"], "127.0.0.1", false],
  [["10.0.0.0/8"], undefined, false],
  [["fd00::/8"], "fd12::1", true],
  [["fd00::/8"], "fe80::1", false],
  [["unix"], undefined, true],
  [["192.0.2.7"], "192.0.2.7", true],
  [["192.0.2.7"], "192.0.2.8", false],
])("with %j, a peer at %s is trusted: %s", (trusted, address, expected) => {
  expect(trustOf(trusted)(address)).toBe(expected);
});
