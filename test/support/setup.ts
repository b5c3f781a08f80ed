/** Runs with every file of tests, and cleans up after it. */
import { afterAll } from "vitest";
import { cleanUpFile } from "./clean-up.js";

afterAll(cleanUpFile);
