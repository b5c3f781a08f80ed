// The tests that mutants are tried on: those of the parts that are mutated.
import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    setupFiles: ["test/support/setup.ts"],
    include: ["test/{store,validator,run,service,classifier}/**/*.test.ts"],
    testTimeout: 60_000,
    hookTimeout: 60_000,
    expect: { poll: { timeout: 20_000 } },
  },
});
