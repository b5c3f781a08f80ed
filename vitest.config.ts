import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    projects: [
      // Pure parts, on the sources.
      {
        test: {
          name: "unit",
          include: ["test/{run,table,files,validator,classifier,store,service}/**/*.test.ts"],
          // A guard against tests that hang, not a measurement: machines are slow at times.
          testTimeout: 60_000,
        },
      },
      // The built program, run as a user runs it.
      { test: { name: "cli", include: ["test/cli/**/*.test.ts"], testTimeout: 120_000 } },
    ],
  },
});
