// Runs a program and measures wall time, CPU time and peak memory, for the benchmarks of whole runs.
import { spawn, spawnSync } from "node:child_process";
import { openSync, readFileSync } from "node:fs";

/**
 * Returns an environment with PATH and a home only: some variables make every start of Node.js slower, NODE_EXTRA_CA_CERTS
 * threefold.
 *
 * @param {string} home
 * @returns {NodeJS.ProcessEnv}
 */
export const bareEnvironment = (home) => ({ PATH: process.env.PATH, HOME: home });

/**
 * Runs a command with its standard output in a file; reads its CPU time and peak memory from /proc.
 *
 * @param {readonly string[]} command
 * @param {string} output path of the file
 * @param {NodeJS.ProcessEnv} env
 * @returns {Promise<{ wall: number, cpu: number, peak: number }>} seconds, seconds, and MiB
 */
export function measure([command, ...args], output, env) {
  // Otherwise it would share the disk with what was written before.
  spawnSync("sync");
  return new Promise((resolve, reject) => {
    const cpuBefore = cpuOfChildren();
    const started = performance.now();
    const child = spawn(command, args, { env, stdio: ["ignore", openSync(output, "w"), "inherit"] });
    let peakKilobytes = 0;
    // Seldom, so that it takes no time from a program that uses all cores.
    const watch = setInterval(() => {
      try {
        const status = readFileSync(`/proc/${child.pid}/status`, "latin1");
        peakKilobytes = Number(/VmHWM:\s+(\d+)/.exec(status)?.[1] ?? peakKilobytes);
      } catch {
        // The process has just ended.
      }
    }, 50);
    child.once("error", (error) => {
      clearInterval(watch);
      reject(error);
    });
    child.once("exit", (code) => {
      clearInterval(watch);
      if (code !== 0) return reject(new Error(`${[command, ...args].join(" ")}: ended with ${code}`));
      const wall = (performance.now() - started) / 1000;
      resolve({ wall, cpu: cpuOfChildren() - cpuBefore, peak: peakKilobytes / 1024 });
    });
  });
}

/** Returns the CPU time in seconds of the ended children of this process. */
function cpuOfChildren() {
  const fields = readFileSync("/proc/self/stat", "latin1").split(") ")[1].split(" ");
  // USER_HZ is 100 on every Linux.
  return (Number(fields[13]) + Number(fields[14])) / 100;
}

/** @param {readonly number[]} numbers */
export const median = (numbers) => numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)];

/** @param {string} line */
export const say = (line) => process.stdout.write(`${line}\n`);
