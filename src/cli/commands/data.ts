import { mkdir } from "node:fs/promises";
import { dirname } from "node:path";
import { DisposableTable } from "../../classifier/disposable-table.js";
import { findTable } from "../../data/installed-table.js";
import { downloadFile, findLatest, type PackageVersion } from "../../data/npm-packages.js";
import { compileLists, type ListVersion, listPackages } from "../../data/sources.js";
import { openOutputFile } from "../../files/output.js";
import { ServiceError } from "../../validator/errors.js";
import { dataTablePath } from "../config/paths.js";
import { print } from "../terminal/standard-output.js";

/** Runs `idv data show`. */
export async function showData(options: { readonly json?: true }): Promise<void> {
  const { path, table } = findTable(process.env);
  const { size, sources } = table;
  if (options.json) {
    print(`${JSON.stringify({ file: path ?? null, entries: size, sources })}\n`);
    return;
  }
  const rows = sources.map(({ name, version, published, domains, licence }) =>
    [name, version, published, `${number(domains)} domains`, licence].join("\t"),
  );
  print(`${rows.join("\n")}\n${number(size)} entries, ${path ?? "came with idv"}\n`);
}

/** Runs `idv data update`: nothing changes unless all of it succeeds. */
export async function updateData(): Promise<void> {
  const { table } = findTable(process.env);
  const latest = await Promise.all(listPackages.map(({ name }) => findLatest(name)));
  const inUse = (name: string) => table.sources.find((source) => source.name === name);
  const order = latest.map(({ name, version }) => compareVersions(version, inUse(name)?.version ?? "0"));
  const describe = ({ name, version }: PackageVersion) => `${name} ${version}`;
  latest.forEach((found, i) => {
    if (order[i]! >= 0) return;
    const newer = inUse(found.name)?.version;
    throw new ServiceError(
      `the registry has only ${describe(found)}, and ${newer} is in use; it was left as it is`,
    );
  });
  if (order.every((difference) => difference === 0)) {
    print(`up to date: ${latest.map(describe).join(", ")}\n`);
    return;
  }
  const versions = await Promise.all(
    latest.map(async (found, i): Promise<ListVersion> => {
      const list = readList(found, await downloadFile(found, listPackages[i]!.file));
      const before = inUse(found.name)?.domains ?? 0;
      if (list.length >= before / 2) return { ...found, list };
      const counts = `${number(list.length)} domains where ${number(before)} are in use`;
      throw new ServiceError(
        `${describe(found)}: ${counts}, which is less than half; they were left as they are`,
      );
    }),
  );
  const compiled = compileLists(versions);
  const { size } = new DisposableTable(compiled);
  if (size < table.size / 2) {
    const counts = `${number(size)} entries come of it where ${number(table.size)} are in use`;
    throw new ServiceError(`${latest.map(describe).join(", ")}: ${counts}; they were left as they are`);
  }
  await install(compiled);
  print(
    `updated: ${latest.map(describe).join(", ")}; ${number(size)} entries, ${number(table.size)} before\n`,
  );
}

function readList(found: PackageVersion, bytes: Uint8Array): readonly string[] {
  try {
    const list: unknown = JSON.parse(Buffer.from(bytes).toString());
    if (Array.isArray(list) && list.every((name) => typeof name === "string")) return list as string[];
  } catch {
    // Explained below.
  }
  throw new ServiceError(
    `${found.name} ${found.version}: its list is none; the data in use was left as it is`,
  );
}

async function install(table: Uint8Array): Promise<void> {
  const path = dataTablePath(process.env);
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const file = await openOutputFile(path);
  try {
    await file.write(table);
  } catch (error) {
    await file.discard();
    throw error;
  }
  await file.commit();
}

/** Negative, 0 or positive: for versions of three numbers. */
function compareVersions(a: string, b: string): number {
  const [left, right] = [a.split(".").map(Number), b.split(".").map(Number)];
  return [0, 1, 2].map((i) => (left[i] ?? 0) - (right[i] ?? 0)).find((difference) => difference !== 0) ?? 0;
}

const number = (value: number): string => value.toLocaleString("en");
