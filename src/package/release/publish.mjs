// node src/package/release/publish.mjs STEP
//
// Publishes a release that lies in dist, a step at a time. Each may be run again after a failure: what is published stays.
//
//   npm              the packages of dist/release, the native ones first, because idv names them
//   action REMOTE    what the action runs, as tags of their own: the project has no built files
//   github           the release with its notes and files; needs gh
import { execFileSync, spawnSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parseTarGzip } from "nanotar";
import { facts, root } from "./targets.mjs";

const { version } = facts;
const tag = `v${version}`;
const isPrerelease = version.includes("-");
const folder = join(root, "dist/release");
const run = (program, args, cwd = root) => execFileSync(program, args, { cwd, stdio: "inherit" });
const succeeds = (program, args) => spawnSync(program, args, { stdio: "ignore" }).status === 0;

async function publishPackages() {
  const packages = readdirSync(folder).filter((name) => /^idv-.*\.tgz$/.test(name));
  const isNative = (name) => name.startsWith("idv-native-");
  for (const file of [...packages.filter(isNative), ...packages.filter((name) => !isNative(name))]) {
    const path = join(folder, file);
    const manifest = (await parseTarGzip(readFileSync(path))).find(({ name }) => name === "package/package.json");
    const { name } = JSON.parse(manifest.text);
    if (succeeds("npm", ["view", `${name}@${version}`, "version"])) continue;
    // Only the workflow has an identity that npm can vouch for.
    const provenance = process.env["ACTIONS_ID_TOKEN_REQUEST_URL"] === undefined ? [] : ["--provenance"];
    run("npm", ["publish", "--access", "public", "--tag", isPrerelease ? "next" : "latest", ...provenance, path]);
  }
}

/** The tag of the version stays for good; that of the major version moves, as users of actions expect. */
function publishAction(remote) {
  // A later try would make another commit.
  if (succeeds("git", ["ls-remote", "--exit-code", remote, `refs/tags/action-${tag}`])) return;
  run(process.execPath, [join(root, "src/package/release/build-action.mjs")]);
  const action = join(root, "dist/github-action");
  const git = (...args) => run("git", args, action);
  git("init", "--quiet");
  git("add", "--all", "--force");
  const author = ["-c", "user.name=release", "-c", "user.email=release@users.noreply.github.com"];
  git(...author, "commit", "--quiet", "--message", `idv ${version}`);
  const tags = [`action-${tag}`, ...(isPrerelease ? [] : [`v${version.split(".")[0]}`])];
  git("push", "--quiet", "--atomic", "--force", remote, ...tags.map((name) => `HEAD:refs/tags/${name}`));
}

function publishRelease() {
  const changelog = readFileSync(join(root, "CHANGELOG.md"), "utf8");
  const section = changelog.split(/^(?=## )/m).find((text) => text.startsWith(`## ${version} `));
  if (section === undefined) throw new Error(`CHANGELOG.md has no section ${version}`);
  const notes = section.replace(/^.*\n+/, "");
  const kind = isPrerelease ? "--prerelease" : "--latest";
  if (!succeeds("gh", ["release", "view", tag])) {
    run("gh", ["release", "create", tag, "--verify-tag", kind, "--title", tag, "--notes", notes]);
  }
  run("gh", ["release", "upload", tag, "--clobber", ...readdirSync(folder).map((name) => join(folder, name))]);
}

const [step, remote] = process.argv.slice(2);
if (step === "npm") await publishPackages();
else if (step === "action" && remote !== undefined) publishAction(remote);
else if (step === "github") publishRelease();
else {
  process.stderr.write("node src/package/release/publish.mjs npm, action REMOTE or github\n");
  process.exitCode = 2;
}
