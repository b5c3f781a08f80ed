/** Runs with every file of tests, and cleans up after it. */
import fc from "fast-check";
import { afterAll } from "vitest";
import { cleanUpFile, endChildrenAtEnd } from "./clean-up.js";
import { times } from "./tier.js";

fc.configureGlobal({ numRuns: times(100) });

// A worker has many files, and keeps what they load.
const worker = globalThis as { hasSetUp?: true };
if (!worker.hasSetUp) endChildrenAtEnd();
worker.hasSetUp = true;

afterAll(cleanUpFile);
