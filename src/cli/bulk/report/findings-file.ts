/** Files of findings that tools read: GitLab's code quality reports, and SARIF. */
import { createHash } from "node:crypto";
import { openOutputFile } from "../../../files/output.js";
import { grouped } from "../../../text.js";
import type { FindingsTarget } from "../../options/values.js";
import { say } from "../../terminal/terminal.js";
import { version } from "../../version.js";
import type { Finding } from "./annotations.js";

/** Limit for a run: GitHub shows 5,000 results of a SARIF file. */
const mostFindings = 5000;

export type FindingsFile = Awaited<ReturnType<typeof openFindingsFile>>;

/** Creates the file, so that a fault is found before the run costs units. @throws FileError */
export async function openFindingsFile({ path, format }: FindingsTarget) {
  const sink = await openOutputFile(path);
  const findings: Finding[] = [];
  let isWritten = false;
  let isCut = false;
  return {
    add(finding: Finding) {
      isCut ||= findings.length === mostFindings;
      if (!isCut) findings.push(finding);
      return !isCut;
    },
    async discard() {
      if (!isWritten) await sink.discard();
    },
    async write() {
      if (isWritten) return;
      if (isCut) say(`${path}: has the first ${grouped(mostFindings)} findings; there are more`);
      const document = { gitlab: codeQuality, sarif }[format](findings);
      await sink.write(Buffer.from(`${JSON.stringify(document, undefined, 2)}\n`));
      await sink.prepare?.();
      await sink.commit();
      isWritten = true;
    },
  };
}

/** A name does not change when the line of its finding does; equal findings are numbered. */
function fingerprints(findings: readonly Finding[]): string[] {
  const counts = new Map<string, number>();
  return findings.map(({ file, rule, text }) => {
    const key = JSON.stringify([file, rule, text]);
    const count = (counts.get(key) ?? 0) + 1;
    counts.set(key, count);
    return createHash("sha256").update(`${key} ${count}`).digest("hex");
  });
}

const idOf = (rule: string): string => rule.replaceAll(" ", "-");

/** https://docs.gitlab.com/ci/testing/code_quality/#code-quality-report-format */
function codeQuality(findings: readonly Finding[]) {
  const names = fingerprints(findings);
  return findings.map(({ file, line = 1, rule, text }, i) => ({
    description: text,
    check_name: idOf(rule),
    fingerprint: names[i],
    severity: "major",
    location: { path: file, lines: { begin: line } },
  }));
}

/** SARIF 2.1.0, https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html */
function sarif(findings: readonly Finding[]) {
  const names = fingerprints(findings);
  const rules = [...new Set(findings.map(({ rule }) => rule))];
  const described = rules.map((rule) => ({ id: idOf(rule), shortDescription: { text: `rows: ${rule}` } }));
  const results = findings.map(({ file, line = 1, rule, text }, i) => {
    // A relative reference: a colon in the first part would be a scheme (RFC 3986, section 4.2).
    const artifactLocation = { uri: encodeURI(file).replace(/[#?:]/g, encodeURIComponent) };
    const locations = [{ physicalLocation: { artifactLocation, region: { startLine: line } } }];
    const partialFingerprints = { "idv/v1": names[i] };
    return { ruleId: idOf(rule), level: "error", message: { text }, locations, partialFingerprints };
  });
  const tool = { driver: { name: "idv", version: version(), rules: described } };
  const $schema = "https://json.schemastore.org/sarif-2.1.0.json";
  return { $schema, version: "2.1.0", runs: [{ tool, results }] };
}
