import { defineConfig } from "vitest/config";

// A worker keeps the modules that it has loaded. No test changes them, or the environment for longer than it runs.
const isolate = false;
/** Ends and removes what a file of tests has left. */
const setupFiles = ["test/support/setup.ts"];
/** Five times what the slowest test takes on a machine with sixteen busy processes. */
const testTimeout = 600_000;
/** Processes and folders of a file of tests are ended and removed in hooks. */
const hookTimeout = 300_000;
/** What a test waits for comes late on a loaded machine. */
const expect = { poll: { timeout: 120_000 } };

// Time limits end tests that hang. They measure nothing: machines are slow at times.
export default defineConfig(({ mode }) => {
  // The workers inherit it; see test/support/tier.ts.
  if (mode === "all") process.env["IDV_TEST_TIER"] = "full";
  return {
    test: {
      // More than there are cores in a small machine: many tests of the program mostly wait.
      maxWorkers: 4,
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
            testTimeout,
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
            testTimeout,
            hookTimeout,
            expect,
            globalSetup: ["test/support/unpack-browser.ts", "test/support/install-package.ts"],
          },
        },
      ],
    },
  };
});
