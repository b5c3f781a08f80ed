// Settings of Stryker, which breaks the source in every way that it knows and runs the tests of the parts. It is installed first:
//
//   npm install --prefix test --no-save @stryker-mutator/core@9 @stryker-mutator/vitest-runner@9
//   node test/tool.mjs stryker run test/mutations/stryker.config.mjs --mutate src/state/quota/quota.ts
//
// Stryker 10 needs a newer Node.js than idv. PostgreSQL is left out: starting it for each mutant takes too long.
process.env.IDV_TEST_POSTGRES = "none";

export default {
  testRunner: "vitest",
  plugins: ["@stryker-mutator/vitest-runner"],
  vitest: { configFile: "test/mutations/vitest.config.mjs", related: false },
  mutate: [
    "src/{store,validator,run,service,classifier}/**/*.ts",
    "!src/state/postgres*.ts",
    "!src/core/run/blocks/threads/worker.ts",
  ],
  coverageAnalysis: "perTest",
  concurrency: 2,
  timeoutMS: 6000,
  // It looks for a tsconfig.json to rewrite, with a compiler interface that TypeScript 7 does not have.
  tsconfigFile: "none",
  reporters: ["clear-text", "progress-append-only", "json"],
  jsonReporter: { fileName: "coverage/mutation.json" },
  tempDirName: "coverage/stryker",
};
