import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";

// A worker keeps the modules that it has loaded. No test changes them, or the environment for longer than it runs.
const isolate = false;
/** Ends and removes what a file of tests has left. */
const setupFiles = ["test/support/setup.ts"];
/** Processes and folders of a file of tests are ended and removed in hooks. */
const hookTimeout = 60_000;
/** What a test waits for comes late on a loaded machine. */
const expect = { poll: { timeout: 20_000 } };

/** Files that take longest, for a minute or so each. Started last, one of them would run alone at the end. */
const longest = [
  "several/chaos",
  "data/data",
  "emails/broken-runs",
  "emails/api-failures",
  "serve/list-check",
];

/** Starts the longest files first, and the others in the usual order. */
class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification) => {
      const found = longest.findIndex((name) => moduleId.endsWith(`/program/${name}.test.ts`));
      return found === -1 ? longest.length : found;
    };
    return (await super.sort(files)).toSorted((a, b) => rank(a) - rank(b));
  }
}

// Time limits end tests that hang. They measure nothing: machines are slow at times.
export default defineConfig({
  test: {
    // More than there are cores in a small machine: many tests of the program mostly wait.
    maxWorkers: 4,
    sequence: { sequencer: LongestFirst },
    projects: [
      // The parts, on the sources; the folders are those of src.
      {
        test: {
          name: "unit",
          isolate,
          setupFiles,
          include: ["test/**/*.test.ts"],
          exclude: ["program", "engines", "platforms", "release", "workbooks"].map(
            (name) => `test/${name}/**`,
          ),
          testTimeout: 60_000,
          hookTimeout,
          expect,
        },
      },
      // The built program, run as a user runs it.
      {
        test: {
          name: "program",
          isolate,
          setupFiles,
          include: ["test/program/**/*.test.ts"],
          testTimeout: 120_000,
          hookTimeout,
          expect,
          globalSetup: ["test/support/unpack-browser.ts", "test/support/install-package.ts"],
        },
      },
    ],
  },
});
