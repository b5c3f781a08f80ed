/** Messages between the page and its worker. */
import type { Facts } from "../../core/facts/facts.js";
import type { renderParts } from "../../core/facts/render/page.js";
import type { opening } from "../../core/facts/words.js";
import type { Kind } from "../../core/validator/validator.js";
import type { CheckedTable, TableRow } from "../browser/table.js";
import type { FaultCode } from "./faults.js";

/** In base64. */
export type PageTables = Readonly<Record<"disposable" | "suffixes" | "kernel", string>>;

export interface CheckOptions {
  readonly kind: Kind;
  /** Number from 1; detected by default. */
  readonly column?: number | undefined;
  /** The first one with items by default. */
  readonly sheet?: string | undefined;
}

export interface SaveOptions extends CheckOptions {
  readonly onlyGood: boolean;
  readonly withReasons: boolean;
  readonly fix: "all" | readonly string[];
}

/** `task` numbers the tasks; an answer to an older one is ignored. */
export type Request =
  | { readonly type: "start"; readonly tables: PageTables }
  | { readonly type: "check"; readonly task: number; readonly file: File; readonly options: CheckOptions }
  | { readonly type: "save"; readonly task: number; readonly file: File; readonly options: SaveOptions }
  | { readonly type: "report"; readonly task: number }
  | { readonly type: "stop" };

/** The reason is one for people. */
export type BadRow = TableRow & { readonly reason: string };

type FoundTable = Pick<CheckedTable, "column" | "columnName" | "columns" | "sheet" | "otherSheets" | "encoding">;

export const mostRows = 5000;

export interface Checked {
  readonly table: FoundTable;
  readonly facts: Facts;
  readonly opening: ReturnType<typeof opening>;
  readonly parts: ReturnType<typeof renderParts>;
  readonly badRows: readonly BadRow[];
  readonly suggestions: number;
}

export type Answer = { readonly task: number } & (
  | { readonly type: "progress"; readonly rows: number; readonly share: number | undefined }
  | ({ readonly type: "checked" } & Checked)
  | { readonly type: "saved"; readonly blob: Blob; readonly name: string }
  | { readonly type: "report"; readonly blob: Blob }
  /** `columns` are those that can be chosen, if the right one was not found. */
  | { readonly type: "fault"; readonly code: FaultCode; readonly message: string; readonly columns: readonly string[] }
  | { readonly type: "stopped" }
);
