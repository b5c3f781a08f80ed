// npm run check:accuracy -- [--disposable FILE]... [--legit FILE]... [--syntax FILE]...
//
// Counts the disposable domains of a list that are caught, the legitimate domains that are wrongly flagged, and the
// addresses of a suite on which the syntax layer agrees. Lists have one domain a line, before any tab or comma; a suite is
// JSON: [{ "address": "...", "smtpValid": true }, ...].
import { readFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { parseAddress } from "../../dist/classifier/syntax/address.js";
import { Fault } from "../../dist/classifier/syntax/fault.js";
import { classifyDomain } from "../../dist/index.js";

const files = { type: "string", multiple: true, default: [] };
const { values } = parseArgs({ options: { disposable: files, legit: files, syntax: files } });
const say = (line) => process.stdout.write(`${line}\n`);
const percent = (part, whole) => `${((100 * part) / Math.max(1, whole)).toFixed(3)} %`;
const domainsIn = (file) => [
  ...new Set(
    readFileSync(file, "utf8")
      .split("\n")
      .map((line) => line.replace(/#.*/, "").split(/[\t,]/)[0].trim().toLowerCase())
      .filter((domain) => domain !== ""),
  ),
];

for (const file of values.disposable) {
  const verdicts = domainsIn(file).map(classifyDomain);
  const count = (status) => verdicts.filter((verdict) => verdict.status === status).length;
  const [caught, fake, total] = [count("disposable"), count("fake"), verdicts.length];
  say(`${file}: ${caught} of ${total} disposable (${percent(caught, total)}), ${fake} fake`);
}
for (const file of values.legit) {
  const domains = domainsIn(file);
  const flagged = domains.filter((domain) => classifyDomain(domain).status !== "ok");
  say(`${file}: ${flagged.length} of ${domains.length} flagged (${percent(flagged.length, domains.length)})`);
  for (const domain of flagged) say(`  ${domain}\t${classifyDomain(domain).reason}`);
}
for (const file of values.syntax) {
  const cases = JSON.parse(readFileSync(file, "utf8"));
  const wrong = cases.filter(
    ({ address, smtpValid }) => parseAddress(address) instanceof Fault === smtpValid,
  );
  say(`${file}: ${cases.length - wrong.length} of ${cases.length} as the suite says`);
  for (const { address, smtpValid } of wrong) say(`  ${JSON.stringify(address)}\tsmtpValid ${smtpValid}`);
}
