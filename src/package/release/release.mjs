// node src/package/release/release.mjs VERSION
//
// Prepares a release: sets the version, dates its section of the changelog, builds everything twice, and makes dist/release.
// Publishes nothing: the workflow of .github/workflows/release.yml does, for a tag.
import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "./targets.mjs";

const [version = ""] = process.argv.slice(2);
const fail = (message) => {
  process.stderr.write(`${message}\n`);
  process.exit(2);
};
const git = (...args) => execFileSync("git", args, { cwd: root, encoding: "utf8" });
const npm = (...args) => execFileSync("npm", args, { cwd: root, stdio: "inherit" });

if (!/^\d+\.\d+\.\d+(?:-[0-9A-Za-z.]+)?$/.test(version))
  fail("node src/package/release/release.mjs VERSION, such as 0.2.0");
if (git("status", "--porcelain") !== "") fail("there are changes that are not committed; commit or stash them");
if (git("tag", "--list", `v${version}`) !== "") fail(`the tag v${version} exists; choose a newer version`);

const path = join(root, "CHANGELOG.md");
const changelog = readFileSync(path, "utf8");
const heading = `## ${version} (not released yet)`;
if (!changelog.includes(heading)) fail(`CHANGELOG.md has no heading "${heading}"; write down what is new`);
writeFileSync(path, changelog.replace(heading, `## ${version} (${new Date().toISOString().slice(0, 10)})`));
npm("version", version, "--no-git-tag-version", "--allow-same-version", "--silent");
const manifests = join(root, "src/package/deploy/kubernetes");
for (const name of readdirSync(manifests)) {
  const manifest = readFileSync(join(manifests, name), "utf8");
  writeFileSync(join(manifests, name), manifest.replace(/(image: \S+:)\S+/g, `$1${version}`));
}
for (const step of ["build-release", "build-assets"])
  execFileSync(process.execPath, [join(root, `src/package/release/${step}.mjs`)], { stdio: "inherit" });
process.stdout.write(`
Look at dist/release, then:
  git commit -am "release: ${version}" && git tag -s v${version} && git push --follow-tags
`);
