/** The progress line of a run. */
import { grouped } from "./terminal.js";

/** A line on the terminal that shows how far the run is. It disappears when the run ends. */
export interface Progress {
  /**
   * @param share part of the input that was read, from 0 to 1; undefined where its size is not known
   * @param detail text to append to the line
   */
  update(rows: number, share: number | undefined, detail?: string): void;
  stop(): void;
}

/** Delay before the line appears, in milliseconds: shorter runs need no progress. */
const delayMilliseconds = 1000;

/**
 * Whether progress is shown: only on a terminal, not in CI and not with `--quiet`. On a terminal of 0 columns, as under
 * script(1) in a cron job, ora would erase lines endlessly.
 */
export function showsProgress(env: NodeJS.ProcessEnv, quiet: boolean): boolean {
  const { isTTY, columns } = process.stderr;
  return isTTY === true && columns > 0 && !env["CI"] && env["TERM"] !== "dumb" && !quiet;
}

/** Starts the progress line. */
export function startProgress(isColoured: boolean): Progress {
  const started = performance.now();
  let line = "";
  let end = () => {};
  const timer = setTimeout(async () => {
    let ended = false;
    end = () => {
      ended = true;
    };
    // Loaded only when there is something to show.
    const { default: ora } = await import("ora");
    if (ended) return;
    const spinner = ora({
      text: line,
      stream: process.stderr,
      discardStdin: false,
      ...(!isColoured && { color: false }),
    }).start();
    end = () => spinner.stop();
    show = () => {
      spinner.text = line;
    };
  }, delayMilliseconds);
  let show = () => {};

  return {
    update(rows, share, detail = "") {
      const rate = Math.round(rows / ((performance.now() - started) / 1000));
      line = `${grouped(rows)} rows, ${grouped(rate)} rows/s`;
      if (share !== undefined) line += `, ${Math.floor(100 * Math.min(1, share))} %`;
      line += detail;
      show();
    },
    stop() {
      clearTimeout(timer);
      end();
    },
  };
}
