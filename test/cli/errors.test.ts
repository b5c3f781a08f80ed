/** Covers the exit code and the message of every error. */
import { CommanderError } from "commander";
import { expect, test } from "vitest";
import { failureFor, Interrupted, UsageError } from "../../src/cli/errors.js";
import { TableError } from "../../src/core/table/errors.js";
import { AuthorisationError, ServiceError } from "../../src/core/validator/errors.js";
import { ChoiceError, ClosedPipe, FileError } from "../../src/files/errors.js";
import { StoreError } from "../../src/state/errors.js";

test.each<[string, unknown, number, string | undefined]>([
  ["a closed pipe", new ClosedPipe("closed"), 0, undefined],
  ["help or version", new CommanderError(0, "commander.help", "(help)"), 0, undefined],
  ["wrong options", new CommanderError(1, "commander.unknownOption", "unknown"), 2, undefined],
  ["wrong usage", new UsageError("usage"), 2, "usage"],
  ["no key", new AuthorisationError("no key"), 3, "no key"],
  ["a failing service", new ServiceError("no answer"), 5, "no answer"],
  ["a state error", new StoreError("locked"), 6, "locked"],
  [
    "a missing module",
    Object.assign(new Error("Cannot find module './a.js'\nRequire stack:\n- b.js"), { code: "MODULE_NOT_FOUND" }),
    70,
    "a part of idv is missing: ./a.js; install idv again",
  ],
  ["SIGHUP", new Interrupted("SIGHUP", "stopped"), 129, "stopped"],
  ["SIGINT", new Interrupted("SIGINT", "stopped"), 130, "stopped"],
  ["SIGTERM", new Interrupted("SIGTERM", "stopped"), 143, "stopped"],
])("gives %s an exit code and a message", (_, error, exitCode, message) => {
  expect(failureFor(error)).toEqual({ exitCode, ...(message !== undefined && { message }) });
});

test.each([
  [new ChoiceError("no column"), { code: "option", exitCode: 2, message: "no column", plain: "no column" }],
  [
    new ChoiceError("no column", { code: "column", advice: "name it with -c", page: "choose one" }),
    { code: "column", exitCode: 2, message: "no column; name it with -c", plain: "no column; choose one" },
  ],
  [
    new FileError("not UTF-8", { advice: "pass --encoding" }),
    { code: "file", exitCode: 6, message: "not UTF-8; pass --encoding", plain: "not UTF-8" },
  ],
  [new TableError("open quote"), { code: "table", exitCode: 6, message: "open quote", plain: "open quote" }],
])("gives a fault a code, and a sentence for each reader: %s", (fault, expected) => {
  expect(failureFor(fault)).toEqual(expected);
});

test.each<[string, unknown]>([
  ["an error of JavaScript", new TypeError("x is undefined")],
  ["a file that is missing elsewhere", Object.assign(new Error("x"), { code: "ENOENT", path: "/x" })],
  ["something that is not an error", "text"],
])("reports %s as a bug, with its stack", (_, error) => {
  const { exitCode, message, stack } = failureFor(error);
  expect({ exitCode, message }).toEqual({
    exitCode: 70,
    message: "a bug in idv; please report it with the lines that follow",
  });
  expect(stack).toContain(error instanceof Error ? error.message : "text");
});
