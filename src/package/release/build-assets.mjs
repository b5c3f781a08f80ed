// node src/package/release/build-assets.mjs
//
// Makes dist/release of what `node src/package/release/build-release.mjs` has built: archives of the binaries, the packages, a bill of materials
// (CycloneDX), checksums, and the files by which Homebrew and Scoop install idv.
import { execFileSync } from "node:child_process";
import { copyFileSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createTarGzip } from "nanotar";
import { binaryOf, facts, nodeLicence, nodeVersion, root, sumsOf, targets } from "./targets.mjs";

const { version, description, license } = facts;
const repository = facts.homepage.replace(/#.*/, "");
const folder = join(root, "dist/release");
rmSync(folder, { recursive: true, force: true });
mkdirSync(folder, { recursive: true });
const text = (path) => readFileSync(join(root, path), "utf8");
const completion = (shell) =>
  execFileSync(process.execPath, [join(root, "bin/idv.js"), "completion", shell], { encoding: "utf8" });

for (const name of readdirSync(join(root, "dist/packages"))) {
  copyFileSync(join(root, "dist/packages", name), join(folder, name));
}
for (const name of readdirSync(join(root, "dist/binaries"))) {
  if (/\.(?:deb|exe)$/.test(name)) copyFileSync(join(root, "dist/binaries", name), join(folder, name));
}
for (const [target, { ending }] of Object.entries(targets)) {
  if (ending !== undefined) continue;
  // Fixed times, owners and modes give the same archive whenever it is made.
  const file = (name, data, mode = "644") => ({ name, data, attrs: { mode, mtime: 0, uid: 0, gid: 0 } });
  const archive = await createTarGzip([
    file("idv", readFileSync(binaryOf(target)), "755"),
    file("idv.1", text("dist/man/idv.1")),
    ...["bash", "zsh", "fish"].map((shell) => file(`completions/idv.${shell}`, completion(shell))),
    file("LICENSE", text("LICENSE")),
    file("NOTICE", text("NOTICE")),
    file("LICENCES.txt", text("dist/bundle/LICENCES.txt") + nodeLicence(target)),
  ]);
  writeFileSync(join(folder, `idv-${version}-${target}.tar.gz`), archive);
}

/** What is in the programs: the packages that are bundled or installed with idv, and Node.js in the binaries. */
function billOfMaterials() {
  const options = ["sbom", "--sbom-format", "cyclonedx", "--sbom-type", "application"];
  const bill = JSON.parse(execFileSync("npm", options, { cwd: root, encoding: "utf8", maxBuffer: 1 << 28 }));
  const bundled = new Set(text("dist/bundle/LICENCES.txt").match(/^\S+ \d\S+(?= \()/gm));
  const native = ["@photostructure/sqlite", "@cloudpss/zstd", "node-gyp-build"];
  const isForDevelopment = ({ properties = [] }) =>
    properties.some(({ name }) => name === "cdx:npm:package:development");
  const isInside = (component) => {
    const name = `${component.group ? `${component.group}/` : ""}${component.name}`;
    return !isForDevelopment(component) || native.includes(name) || bundled.has(`${name} ${component.version}`);
  };
  bill.components = bill.components.filter(isInside);
  bill.components.push({
    type: "platform",
    name: "node",
    version: nodeVersion,
    purl: `pkg:generic/node@${nodeVersion}`,
  });
  const kept = new Set([bill.metadata.component["bom-ref"], ...bill.components.map((each) => each["bom-ref"])]);
  bill.dependencies = bill.dependencies
    .filter(({ ref }) => kept.has(ref))
    .map(({ ref, dependsOn }) => ({ ref, dependsOn: dependsOn.filter((each) => kept.has(each)) }));
  // The same bill whenever it is made.
  delete bill.serialNumber;
  delete bill.metadata.timestamp;
  return bill;
}
writeFileSync(join(folder, `idv-${version}.cdx.json`), `${JSON.stringify(billOfMaterials(), undefined, 2)}\n`);

const sums = sumsOf(folder);
writeFileSync(join(folder, "SHA256SUMS"), `${sums.join("\n")}\n`);

const place = `${repository}/releases/download/v${version}`;
/** Returns the address and the checksum of a file of the release. */
function asset(name) {
  const [sum] = sums.find((line) => line.endsWith(`  ${name}`)).split("  ");
  return { url: `${place}/${name}`, sum };
}
const stanza = (target) => {
  const { url, sum } = asset(`idv-${version}-${target}.tar.gz`);
  return `url "${url}"\n      sha256 "${sum}"`;
};
writeFileSync(
  join(folder, "idv.rb"),
  `class Idv < Formula
  desc "${description}"
  homepage "${repository}"
  version "${version}"
  license "${license}"

  on_macos do
    on_arm do
      ${stanza("macos-arm64")}
    end
    on_intel do
      ${stanza("macos-x64")}
    end
  end

  on_linux do
    on_arm do
      ${stanza("linux-arm64")}
    end
    on_intel do
      ${stanza("linux-x64")}
    end
  end

  def install
    bin.install "idv"
    man1.install "idv.1"
    bash_completion.install "completions/idv.bash" => "idv"
    zsh_completion.install "completions/idv.zsh" => "_idv"
    fish_completion.install "completions/idv.fish"
  end

  test do
    assert_match "disposable", shell_output("#{bin}/idv check a@mailinator.com")
  end
end
`,
);
const windows = asset(`idv-${version}-windows-x64.exe`);
writeFileSync(
  join(folder, "idv.json"),
  `${JSON.stringify(
    {
      version,
      description,
      homepage: repository,
      license,
      architecture: { "64bit": { url: `${windows.url}#/idv.exe`, hash: windows.sum } },
      bin: "idv.exe",
      checkver: "github",
      autoupdate: {
        architecture: { "64bit": { url: windows.url.replaceAll(version, "$version").concat("#/idv.exe") } },
      },
    },
    undefined,
    4,
  )}\n`,
);
process.stdout.write(`${sums.join("\n")}\nwritten to dist/release: the files above, SHA256SUMS, idv.rb and idv.json\n`);
