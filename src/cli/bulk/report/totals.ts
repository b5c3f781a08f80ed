/** Adds up the summaries of a run over several files. */

import { counted, grouped } from "../../../text.js";
import { type ExitCode, exitCodes } from "../../exit-codes.js";
import type { DryRun, Summary } from "./result.js";

/** Exit codes from the best to the worst. */
const order: readonly number[] = [
  ...[exitCodes.done, exitCodes.failOn, exitCodes.quotaExhausted, exitCodes.usage],
  ...[exitCodes.notAuthorised, exitCodes.service, exitCodes.inputOutput, exitCodes.bug],
];

export class Totals {
  exitCode: number = exitCodes.done satisfies ExitCode;
  #files = 0;
  #failed = 0;
  #hasLostSideOutput = false;
  #rows = 0;
  #distinct = 0;
  #units = 0;
  #told = 0;
  readonly #isDryRun: boolean;

  constructor(isDryRun: boolean) {
    this.#isDryRun = isDryRun;
  }

  get toldUnits(): number {
    return this.#told;
  }

  get hasFailed(): boolean {
    return this.#failed > 0 || this.#hasLostSideOutput;
  }

  /** Counts a report, a log or the like that could not be written beside the output. */
  loseSideOutput(exitCode: number): void {
    this.#hasLostSideOutput = true;
    this.#worsen(exitCode);
  }

  add(summary: Summary | DryRun, exitCode: number): void {
    const { rows, distinct } = "report" in summary ? summary.report : summary.dryRun;
    this.#files++;
    this.#rows += rows;
    this.#distinct += distinct;
    const units = "report" in summary ? summary.report.charged : summary.dryRun.items;
    this.#units += units;
    this.#told += units;
    this.#worsen(exitCode);
  }

  addFailure(exitCode: number, units = 0): void {
    this.#files++;
    this.#failed++;
    this.#units += units;
    this.#worsen(exitCode);
  }

  render(format: "text" | "json"): string {
    const [files, failed, rows] = [this.#files, this.#failed, this.#rows];
    const [distinct, units] = [this.#distinct, this.#units];
    if (format === "json") {
      const isDryRun = this.#isDryRun;
      const charged = isDryRun ? { dryRun: true, units } : { units: { used: units } };
      return JSON.stringify({ type: "total", files, failed, rows, distinct, ...charged });
    }
    const failures = failed === 0 ? "" : `, ${grouped(failed)} failed`;
    const items = counted(distinct, "distinct item");
    return `${counted(files, "file")}${failures}: ${counted(rows, "row")}, ${items}; ${counted(units, "unit")} ${this.#isDryRun ? "would be charged" : "used"}`;
  }

  #worsen(exitCode: number): void {
    if (order.indexOf(exitCode) > order.indexOf(this.exitCode)) this.exitCode = exitCode;
  }
}
