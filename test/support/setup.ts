/** Runs with every file of tests, and cleans up after it. */
import fc from "fast-check";
import { afterAll } from "vitest";
import { cleanUpFile } from "./clean-up.js";
import { times } from "./tier.js";

fc.configureGlobal({ numRuns: times(100) });

afterAll(cleanUpFile);
