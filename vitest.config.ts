import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    projects: [
      // Pure parts, on the sources.
      { test: { name: "unit", include: ["test/{run,table,validator,classifier,store}/**/*.test.ts"] } },
      // The built program, run as a user runs it.
      { test: { name: "cli", include: ["test/cli/**/*.test.ts"], testTimeout: 60_000 } },
    ],
  },
});
