// npm run set-repository -- OWNER/NAME AUTHOR
//
// Puts the place of the repository and the author into package.json, in place of those there.
import { readFileSync, writeFileSync } from "node:fs";

const [name = "", author = ""] = process.argv.slice(2);
if (!/^[\w.-]+\/[\w.-]+$/.test(name) || author === "") {
  process.stderr.write("npm run set-repository -- OWNER/NAME AUTHOR\n");
  process.exit(2);
}
const file = new URL("../package.json", import.meta.url);
const text = readFileSync(file, "utf8");
const changed = { ...JSON.parse(text), author };
const url = `https://github.com/${name}`;
Object.assign(changed, {
  homepage: `${url}#readme`,
  bugs: `${url}/issues`,
  repository: { type: "git", url: `git+${url}.git` },
});
writeFileSync(file, `${JSON.stringify(changed, undefined, 2)}\n`);
