/** Why a list cannot be checked, in words. */
export const faults = {
  gone: "The file was moved or changed, or cannot be read. Choose it again.",
  file: "The file is damaged, or not text in a known encoding.",
  format: "This is not a table. Export the list as CSV or .xlsx.",
  workbook: "The workbook cannot be read. Open it in a spreadsheet program and save it as .xlsx or CSV.",
  sheet: "The workbook has no such sheet.",
  table: "The table cannot be read. Export the list as CSV or .xlsx.",
  row: "A row of the file is broken.",
  column: "It is not clear which column holds the items: none does, or several do.",
  items: "No column holds e-mail addresses, or domains if these were chosen.",
  option: "The file cannot be checked in this way.",
  empty: "The file is empty.",
  memory: "The file needs more memory than the browser has. Use a part of it, or idv on the command line.",
  unknown: "The file cannot be checked. The page is ready for another one.",
} as const;

export type FaultCode = keyof typeof faults;

interface Fault {
  readonly code: FaultCode;
  readonly message: string;
  readonly columns: readonly unknown[];
}

/** Faults whose message is about the browser or the program, not for people. */
const technical: readonly FaultCode[] = ["gone", "file", "memory", "unknown"];

/** Messages follow the name of the program, if they do not begin with that of the file. */
export const sentence = (message: string): string =>
  message.replace(/^(?:no|a|the|it) /, (word) => word.slice(0, 1).toUpperCase() + word.slice(1));

/** What a message says of the file is nearer to the truth than the words of its kind of fault. */
export function reasonOf({ code, message, columns }: Fault): string {
  // A choice of columns says the rest.
  return message === "" || technical.includes(code) || columns.length > 0 ? faults[code] : sentence(message);
}
