// node src/package/release/set-repository.mjs OWNER/NAME AUTHOR
//
// Puts the place of the repository and the author into package.json and action.yml, in place of those there, its owner into
// CODEOWNERS, and the places of the image and the action into the objects for Kubernetes and the README.
import { readdirSync, readFileSync, writeFileSync } from "node:fs";

const [name = "", author = ""] = process.argv.slice(2);
if (!/^[\w.-]+\/[\w.-]+$/.test(name) || author === "") {
  process.stderr.write("node src/package/release/set-repository.mjs OWNER/NAME AUTHOR\n");
  process.exit(2);
}
const file = new URL("../../../package.json", import.meta.url);
const text = readFileSync(file, "utf8");
const changed = { ...JSON.parse(text), author };
const url = `https://github.com/${name}`;
Object.assign(changed, {
  homepage: `${url}#readme`,
  bugs: `${url}/issues`,
  repository: { type: "git", url: `git+${url}.git` },
});
writeFileSync(file, `${JSON.stringify(changed, undefined, 2)}\n`);

/** Replaces what a pattern finds in a file of the project. */
function replace(path, pattern, replacement) {
  const file = new URL(`../../../${path}`, import.meta.url);
  writeFileSync(file, readFileSync(file, "utf8").replace(pattern, replacement));
}
replace("README.md", /(uses: )\S+(@v\d+)/g, `$1${name}$2`);
replace(".github/CODEOWNERS", /^\* @\S+/m, `* @${name.split("/")[0]}`);
replace("src/package/action/action.yml", /^author: .*$/m, `author: ${JSON.stringify(author)}`);
for (const each of readdirSync(new URL("../deploy/kubernetes/", import.meta.url))) {
  replace(`src/package/deploy/kubernetes/${each}`, /image: \S+(:\S+)/g, `image: ghcr.io/${name.toLowerCase()}$1`);
}
