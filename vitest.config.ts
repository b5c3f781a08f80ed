import { defineConfig } from "vitest/config";

// Time limits end tests that hang. They measure nothing: machines are slow at times.
export default defineConfig({
  test: {
    // The default is one less than there are cores, which is one on two: the tests of the program mostly wait.
    maxWorkers: 2,
    projects: [
      // The parts, on the sources; the folders are those of src.
      {
        test: {
          name: "unit",
          include: ["test/**/*.test.ts"],
          exclude: ["test/program/**"],
          testTimeout: 60_000,
        },
      },
      // The built program, run as a user runs it.
      { test: { name: "program", include: ["test/program/**/*.test.ts"], testTimeout: 120_000 } },
    ],
  },
});
