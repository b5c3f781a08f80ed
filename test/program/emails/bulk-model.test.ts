/** Compares some random runs of the built program with a plain model of them; test/cli/bulk/bulk-model.test.ts has more. */
import { test } from "vitest";
import { expectAsPredicted } from "../../support/check-bulk-case.js";
import { idv } from "../../support/run-idv.js";
import { times } from "../../support/tier.js";

const numbers = Array.from({ length: times(20, 2) }, (_, i) => 201 + i);

test.each(numbers)("run %i of the program does what the model says", (number) => expectAsPredicted(idv, number));
