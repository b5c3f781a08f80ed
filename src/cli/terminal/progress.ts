/** One line on a terminal that says how far the run is. Gone when it ends. */
export interface Progress {
  update(rows: number, share: number | undefined): void;
  stop(): void;
}

/** A run that is shorter needs no progress. */
const delayMilliseconds = 1000;

/**
 * Nothing is shown off a terminal, in CI or when the user wants quiet. A terminal that says it is 0 columns wide,
 * as under script(1) in a cron job, would make ora erase an infinite number of lines.
 */
export function showsProgress(env: NodeJS.ProcessEnv, quiet: boolean): boolean {
  const { isTTY, columns } = process.stderr;
  return isTTY === true && columns > 0 && !env["CI"] && env["TERM"] !== "dumb" && !quiet;
}

/** Starts the line; it appears after a second. */
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
    update(rows, share) {
      const rate = Math.round(rows / ((performance.now() - started) / 1000));
      line = `${rows.toLocaleString("en")} rows, ${rate.toLocaleString("en")} rows/s`;
      if (share !== undefined) line += `, ${Math.floor(100 * Math.min(1, share))} %`;
      show();
    },
    stop() {
      clearTimeout(timer);
      end();
    },
  };
}
