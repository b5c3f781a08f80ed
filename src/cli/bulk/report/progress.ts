/** Fills the progress display of a bulk run. */

import type { RunProgress } from "../../../core/run/run-options.js";
import type { Activity } from "../../../engines/api/sender.js";
import type { MailStatistics } from "../../../engines/dns/mail-domains.js";
import { counted, grouped } from "../../../text.js";
import { type Progress, showsProgress, startProgress } from "../../terminal/progress.js";
import type { Run } from "../open/engine.js";
import type { RunFiles } from "../open/files.js";
import type { Plan } from "../plan/plan.js";

export function progressOf(
  { inputName, output, split, log: { progress: mode } }: Plan,
  { engine: { validator, activity }, mail }: Run,
  { table, share }: RunFiles,
  place: string | undefined,
): Progress | undefined {
  const target = output ?? split;
  if (mode === "none" || (mode === "auto" && !showsProgress(process.env, target === undefined))) return undefined;
  const files = `${place === undefined ? "" : `${place}: `}${inputName}${target === undefined ? "" : ` -> ${target}`}`;
  const name = table.columnName === undefined ? "" : ` "${table.columnName}"`;
  const heading = `${files}  column ${table.column + 1}${name}  ${validator.name}`;
  const details = (progress: RunProgress) => [
    ...(mail ? mailProgress(mail.check.statistics) : []),
    ...(activity ? serviceProgress(activity(), progress.units()) : []),
  ];
  return startProgress(mode, { heading, share, details });
}

const mailProgress = ({ asked, undecided }: MailStatistics): readonly string[] => [
  `${counted(asked, "domain")} asked`,
  ...(undecided === 0 ? [] : [`${grouped(undecided)} undecided`]),
];

function serviceProgress({ inFlight, wait }: Activity, { charged, cached }: ReturnType<RunProgress["units"]>) {
  const seconds = wait && Math.ceil((wait.until - Date.now()) / 1000);
  return [
    `${counted(inFlight, "batch", "batches")} out`,
    counted(charged, "unit"),
    ...(cached === 0 ? [] : [`${grouped(cached)} from the cache`]),
    ...(wait && seconds! > 0 ? [`waiting ${grouped(seconds!)} s: ${wait.why}`] : []),
  ];
}
