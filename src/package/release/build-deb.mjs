// node src/package/release/build-deb.mjs [--target linux-arm64]
//
// Makes a package for Debian and Ubuntu of a binary that is built: the program, its manual page, completions for three shells
// and units for systemd. Needs dpkg-deb. The package is dist/binaries/idv_VERSION_ARCHITECTURE.deb.
import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { parseArgs } from "node:util";
import { gzipSync } from "node:zlib";
import { binaryOf, facts, nodeLicence, ownTarget, root } from "./targets.mjs";

const { values } = parseArgs({ options: { target: { type: "string", default: ownTarget } } });
const { target } = values;
const architecture = { "linux-x64": "amd64", "linux-arm64": "arm64" }[target];
if (architecture === undefined) throw new Error(`${target}: Debian has packages for linux-x64 and linux-arm64`);

const { version, description, homepage } = facts;
const work = join(root, "dist/binaries/work-deb");
rmSync(work, { recursive: true, force: true });

const write = (path, content, mode = 0o644) => {
  mkdirSync(dirname(join(work, path)), { recursive: true });
  writeFileSync(join(work, path), content);
  chmodSync(join(work, path), mode);
};
const text = (path) => readFileSync(join(root, path), "utf8");
const idv = (...args) => execFileSync(process.execPath, [join(root, "bin/idv.js"), ...args]);
/** Time of the sources, in seconds: builds of one commit are the same. */
const epoch = Number(
  process.env.SOURCE_DATE_EPOCH ?? execFileSync("git", ["log", "-1", "--format=%ct"], { cwd: root, encoding: "utf8" }),
);
/** The same bytes at any time, as Debian asks for. */
const compressed = (content) => gzipSync(content, { level: 9 });

write("usr/bin/idv", readFileSync(binaryOf(target)), 0o755);
write("usr/share/man/man1/idv.1.gz", compressed(text("dist/man/idv.1")));
write("usr/share/bash-completion/completions/idv", idv("completion", "bash"));
write("usr/share/zsh/vendor-completions/_idv", idv("completion", "zsh"));
write("usr/share/fish/vendor_completions.d/idv.fish", idv("completion", "fish"));
for (const name of readdirSync(join(root, "src/package/deploy/systemd"))) {
  write(
    `usr/lib/systemd/system/${name}`,
    text(`src/package/deploy/systemd/${name}`).replaceAll("/usr/bin/env idv", "/usr/bin/idv"),
  );
}
write("usr/share/doc/idv/copyright", `${text("LICENSE")}\n${text("NOTICE")}`);
write("usr/share/doc/idv/changelog.gz", compressed(text("CHANGELOG.md")));
const date = new Date(1000 * epoch).toUTCString().replace("GMT", "+0000");
const entry = `idv (${version.replace("-", "~")}) unstable; urgency=medium\n\n  * See changelog.gz.\n\n -- ${facts.author}  ${date}\n`;
write("usr/share/doc/idv/changelog.Debian.gz", compressed(entry));
write("usr/share/doc/idv/LICENCES.gz", compressed(text("dist/bundle/LICENCES.txt") + nodeLicence(target)));

const size = readdirSync(work, { recursive: true, encoding: "utf8" })
  .map((path) => statSync(join(work, path)))
  .reduce((sum, found) => sum + (found.isFile() ? found.size : 0), 0);
write(
  "DEBIAN/control",
  `Package: idv
Version: ${version.replace("-", "~")}
Architecture: ${architecture}
Maintainer: ${facts.author}
Installed-Size: ${Math.ceil(size / 1024)}
Depends: libc6 (>= 2.28), libstdc++6
Section: mail
Priority: optional
Homepage: ${homepage}
Description: ${description}
 Every row of a table gets the status of its e-mail address or domain: ok,
 alias, disposable or fake. Works offline, or asks a validation service;
 "idv serve" is such a service.
`,
);
// What dh_installsystemd writes, for units that nobody has enabled yet. DPKG_ROOT is another system, which runs no units.
const scripts = {
  postinst: `if running; then
  systemctl daemon-reload || true
  # After an upgrade.
  [ -z "$2" ] || deb-systemd-invoke try-restart idv.service > /dev/null || true
fi`,
  prerm: `if [ "$1" = remove ] && running; then
  deb-systemd-invoke stop idv.socket idv.service "idv-clean@*.timer" > /dev/null || true
fi`,
  postrm: `if [ "$1" = remove ]; then
  rm -f "$DPKG_ROOT"/etc/systemd/system/*.wants/idv.service "$DPKG_ROOT"/etc/systemd/system/*.wants/idv.socket \\
    "$DPKG_ROOT"/etc/systemd/system/*.wants/idv-clean@*.timer
fi
if [ "$1" = purge ]; then
  rm -rf "$DPKG_ROOT/var/lib/private/idv" "$DPKG_ROOT/var/lib/idv" "$DPKG_ROOT/var/lib/idv-clean"
fi
if running; then systemctl daemon-reload || true; fi`,
};
for (const [name, script] of Object.entries(scripts)) {
  const running = '[ -z "$DPKG_ROOT" ] && [ -d /run/systemd/system ]';
  write(`DEBIAN/${name}`, `#!/bin/sh\nset -e\nrunning() { ${running}; }\n${script}\n`, 0o755);
}
const path = join(root, `dist/binaries/idv_${version}_${architecture}.deb`);
execFileSync("dpkg-deb", ["--build", "--root-owner-group", "-Zxz", "-z1", work, path], {
  env: { ...process.env, SOURCE_DATE_EPOCH: String(epoch) },
  stdio: ["ignore", "ignore", "inherit"],
});
rmSync(work, { recursive: true });
process.stdout.write(`${path}: ${(statSync(path).size / 1e6).toFixed(1)} MB\n`);
