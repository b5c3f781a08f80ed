/** Writes spreadsheet files with the XML that a test gives, as no library would: hostile, damaged, or as LibreOffice does. */
import { zip } from "./zip.mjs";

const office = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";

/** Returns an .xlsx file with some sheets, given by their rows. A sheet without rows is a chart. */
export function xlsxOf(
  sheets: Readonly<Record<string, string | undefined>>,
  {
    texts = [],
    styles = "",
    dimension = "",
    end = "",
    names = "",
    parts = {},
  }: {
    texts?: readonly string[];
    styles?: string;
    dimension?: string;
    /** XML at the end of each sheet. */
    end?: string;
    /** XML of the defined names. */
    names?: string;
    /** Further parts, or others in place of those with the same names. */
    parts?: Readonly<Record<string, string>>;
  } = {},
): Buffer {
  const entries = Object.entries(sheets).map(([name, rows], index) => ({ name, rows, id: `rId${index + 1}` }));
  const folder = (rows: string | undefined) => (rows === undefined ? "chartsheet" : "worksheet");
  return zip({
    "[Content_Types].xml": "<Types/>",
    "_rels/.rels": `<Relationships><Relationship Id="b" Type="${office}/officeDocument" Target="xl/workbook.xml"/></Relationships>`,
    "xl/workbook.xml": `<workbook xmlns:r="${office}"><sheets>${entries
      .map(({ name, id }, index) => `<sheet name="${name}" sheetId="${index + 1}" r:id="${id}"/>`)
      .join("")}</sheets>${names && `<definedNames>${names}</definedNames>`}</workbook>`,
    "xl/_rels/workbook.xml.rels": `<Relationships>${entries
      .map(
        ({ rows, id }) =>
          `<Relationship Id="${id}" Type="${office}/${folder(rows)}" Target="${folder(rows)}s/${id}.xml"/>`,
      )
      .join("")}<Relationship Id="t" Type="${office}/sharedStrings" Target="/xl/sharedStrings.xml"/>
      <Relationship Id="s" Type="${office}/styles" Target="styles.xml"/></Relationships>`,
    "xl/sharedStrings.xml": `<sst>${texts.map((text) => `<si>${text}</si>`).join("")}</sst>`,
    "xl/styles.xml": `<styleSheet>${styles}</styleSheet>`,
    ...Object.fromEntries(
      entries.map(({ rows, id }) => [
        `xl/${folder(rows)}s/${id}.xml`,
        rows === undefined
          ? "<chartsheet/>"
          : `<worksheet>${dimension}<sheetData>${rows}</sheetData><autoFilter ref="A1"/>${end}</worksheet>`,
      ]),
    ),
    ...parts,
  });
}
