/** Adds up what a run over several files has found, and keeps the worst of their exit codes. */
import { emptyFacts, type Facts, sumOf } from "../../../core/facts/facts.js";
import type { Engine } from "../../engines/engine.js";
import { type ExitCode, exitCodes } from "../../exit-codes.js";
import { version } from "../../version.js";
import type { Plan } from "../plan/plan.js";

const order: readonly number[] = [
  ...[exitCodes.done, exitCodes.failOn, exitCodes.quotaExhausted, exitCodes.usage],
  ...[exitCodes.notAuthorised, exitCodes.service, exitCodes.inputOutput, exitCodes.bug],
];

export class Totals {
  exitCode: number = exitCodes.done satisfies ExitCode;
  /** The first are those of no file. */
  readonly #files: [Facts, ...Facts[]];
  failed = 0;
  #lostUnits = 0;
  #paidUnits = 0;

  constructor(none: Facts) {
    this.#files = [none];
  }

  get toldUnits(): number {
    return this.#files.reduce((sum, { units }) => sum + units.used + units.paidBefore, 0);
  }

  /** Subtracts units paid by another run of the name from those of a file; the rest belongs to earlier files. */
  withPaid(facts: Facts, paid: number): Facts {
    const { units } = facts;
    const own = Math.min(units.used, paid);
    this.addPaid(paid - own);
    return { ...facts, units: { ...units, used: units.used - own, paidBefore: own } };
  }

  /** Counts units paid before for files whose facts are printed already. */
  addPaid(units: number): void {
    this.#paidUnits += units;
  }

  add(facts: Facts, exitCode: number): void {
    this.#files.push(facts);
    this.worsen(exitCode);
  }

  addFailure(exitCode: number, units = 0): void {
    this.failed++;
    this.#lostUnits += units;
    this.worsen(exitCode);
  }

  facts(): Facts {
    return { ...this.completed(sumOf(this.#files)), made: new Date().toISOString() };
  }

  /** The sum of some files, with the units of those that failed, and with all that was paid before. */
  completed(sum: Facts): Facts {
    const { used, paidBefore } = sum.units;
    const paid = this.#paidUnits;
    const units = { ...sum.units, used: used + this.#lostUnits - paid, paidBefore: paidBefore + paid };
    return { ...sum, units, failed: this.failed };
  }

  worsen(exitCode: number): void {
    if (order.indexOf(exitCode) > order.indexOf(this.exitCode)) this.exitCode = exitCode;
  }
}

export const noFacts = (
  { kind, isDryRun, columns }: Plan,
  { engine, dataDays }: { readonly engine: Engine; readonly dataDays: number | null },
): Facts => ({
  ...emptyFacts(kind, `idv ${version()}`),
  dryRun: isDryRun,
  engine: engine.validator.name,
  engineReason: engine.reason,
  dataDays,
  requests: engine.requests === undefined ? null : 0,
  explained: columns.withReasons,
  fixes: columns.fixes !== undefined,
});
