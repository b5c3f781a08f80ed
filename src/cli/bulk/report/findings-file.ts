/** Files of findings that tools read: GitLab's code quality reports, and SARIF. */
import { createHash } from "node:crypto";
import { openOutputFile } from "../../../files/output.js";
import type { TableSink } from "../../../files/table-sink.js";
import { grouped } from "../../../text.js";
import type { FindingsTarget } from "../../options/values.js";
import { say } from "../../terminal/terminal.js";
import { version } from "../../version.js";
import type { Finding, FindingSink } from "./annotations.js";

/** Limit for a run: GitHub shows 5,000 results of a SARIF file. */
const mostFindings = 5000;

export class FindingsFile implements FindingSink {
  readonly path: string;
  readonly #format: FindingsTarget["format"];
  readonly #sink: TableSink;
  readonly #findings: Finding[] = [];
  #isWritten = false;
  #isCut = false;

  /** Creates the file, so that a fault is found before the run costs units. @throws FileError */
  static async open({ path, format }: FindingsTarget) {
    return new FindingsFile(path, format, await openOutputFile(path));
  }

  private constructor(path: string, format: FindingsTarget["format"], sink: TableSink) {
    this.path = path;
    this.#format = format;
    this.#sink = sink;
  }

  add(finding: Finding): boolean {
    this.#isCut ||= this.#findings.length === mostFindings;
    if (!this.#isCut) this.#findings.push(finding);
    return !this.#isCut;
  }

  async discard(): Promise<void> {
    if (!this.#isWritten) await this.#sink.discard();
  }

  async write(): Promise<void> {
    if (this.#isWritten) return;
    if (this.#isCut) say(`${this.path}: has the first ${grouped(mostFindings)} findings; there are more`);
    const document = { gitlab: codeQuality, sarif }[this.#format](this.#findings);
    await this.#sink.write(Buffer.from(`${JSON.stringify(document, undefined, 2)}\n`));
    await this.#sink.prepare?.();
    await this.#sink.commit();
    this.#isWritten = true;
  }
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
  return {
    $schema: "https://json.schemastore.org/sarif-2.1.0.json",
    version: "2.1.0",
    runs: [
      {
        tool: {
          driver: {
            name: "idv",
            version: version(),
            rules: rules.map((rule) => ({ id: idOf(rule), shortDescription: { text: `rows: ${rule}` } })),
          },
        },
        results: findings.map(({ file, line = 1, rule, text }, i) => ({
          ruleId: idOf(rule),
          level: "error",
          message: { text },
          locations: [
            {
              physicalLocation: {
                // A relative reference: a colon in the first part would be a scheme (RFC 3986, section 4.2).
                artifactLocation: { uri: encodeURI(file).replace(/[#?:]/g, encodeURIComponent) },
                region: { startLine: line },
              },
            },
          ],
          partialFingerprints: { "idv/v1": names[i] },
        })),
      },
    ],
  };
}
