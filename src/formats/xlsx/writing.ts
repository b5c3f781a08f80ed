/** The parts of hucre that write workbooks; bundlers leave out its other parts. Loaded only when a new workbook is written. */
export { writeXlsxStream } from "hucre/xlsx";
