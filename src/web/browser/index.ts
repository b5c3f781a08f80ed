/**
 * idv as a library for browsers: classifies e-mail addresses and domains, and validates whole tables, where they are. It
 * fetches its tables and sends nothing.
 *
 * @packageDocumentation
 */

export type { Counts, Facts, InputFacts } from "../../core/facts/facts.js";
export type { FaultCode } from "../../fault.js";
export * from "./items.js";
export { loadTables, type Tables } from "./load-tables.js";
export type { CheckedTable, TableOptions, TableProgress, TableRow } from "./table.js";
export { TableFault } from "./table-fault.js";
export { validateTable } from "./validate-table.js";
