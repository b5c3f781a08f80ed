/** Covers where a table starts, below titles, notes and blank lines. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { profiles } from "../../../src/core/run/items/profiles.js";
import { sniffDelimiter } from "../../../src/core/table/sniff/dialect.js";
import { layoutOf } from "../../../src/core/table/sniff/layout.js";
import { separatorLine, splitterOf } from "../../../src/core/table/sniff/sample.js";

const note =
  '"When exporting your connection data, you may notice that some of the email addresses are missing. You can, if you like, learn more."';

async function layout(text: string, startsHere = false) {
  const options = { profile: profiles.email, startsHere };
  const split = await splitterOf(Buffer.from(text), true);
  const delimiter = sniffDelimiter(split, options);
  const { above, header, second } = layoutOf(split(delimiter), options);
  return { delimiter, above, header: header?.fields, second };
}

describe("a table starts", () => {
  test.each<[string, string, number, string[] | undefined]>([
    ["at its header", "id,email\n1,a@x.net\n", 0, ["id", "email"]],
    ["below a title", "Export from CRM\nid,email\n1,a@x.net\n2,b@x.net\n", 1, ["id", "email"]],
    ["below a padded title", "Export from CRM;;\nid;email;x\n1;a@x.net;y\n", 1, ["id", "email", "x"]],
    ["below a label and a value", "Date:;2024-05-01;;\nid;email;x;y\n1;a@x.net;y;\n", 1, ["id", "email", "x", "y"]],
    [
      "below LinkedIn's notes",
      `Notes:\n${note}\n\nFirst Name,Last Name,URL,Email Address\nAnn,Lee,https://x.net/a,a@x.net\nBob,Ray,https://x.net/b,\n`,
      3,
      ["First Name", "Last Name", "URL", "Email Address"],
    ],
    ["below a sentence", "Written by Ann, Bob, Carl\n\nid,email\n1,a@x.net\n2,b@x.net\n", 2, ["id", "email"]],
    ["below a title without a header", "Export from CRM\n\n1,a@x.net\n2,b@x.net\n", 2, undefined],
    ["below a title with names unknown to us", "Report\n\nNr,Kontakt\n1,a@x.net\n2,b@x.net\n", 2, ["Nr", "Kontakt"]],
    ["below two titles of a plain list", "Our list\n\nE-Mail\na@x.net\nb@x.net\n", 2, ["E-Mail"]],
    ["below blank lines", "\n\nemail\na@x.net\n", 2, ["email"]],
    ["at the first row of a list", "a@x.net\nb@x.net\n", 0, undefined],
    ["at a header with gaps", "email,,\na@x.net,1,2\n", 0, ["email", "", ""]],
    ["at a first row with gaps", "name,preferred\nAnn,Email\nBob,Phone\nCid,c@x.net\n", 0, ["name", "preferred"]],
    ["at an item with a mistake", "ann.x.net\nbob(at)x.net\nc@x.net\nd@x.net\n", 0, undefined],
    ["at an item with two signs", "kim@@x.net\nc@x.net\n", 0, undefined],
    ["at a numbered item", "1. c@x.net\n2. d@x.net\n", 0, undefined],
    ["below narrower labels", "Segment,Newsletter\n\nEmail,Name,City\na@x.net,Ann,X\n", 2, ["Email", "Name", "City"]],
  ])("%s", async (_, text, above, header) => {
    expect(await layout(text)).toMatchObject({ above, header });
  });

  test.each<[string, string, number]>([
    ["labels as wide as the table", "Report,Subscribers\nOwner,sam@x.net\nDate,2024\nName,Email\nAnn,a@x.net\n", 3],
    ["a label", "Report: x\nPrepared by: Sam <sam@x.net>\n\nName,Email,Total\nAnn,a@x.net,1\n", 3],
    ["a table", "ID,User Email,Time\n1,sam@x.net,60\n\nName,Guest,User Email\nAnn,x,a@x.net\nBob,y,b@x.net\n", 3],
    ["rows without a header", "a@x.net,Ann\nb@x.net,Bob\nname,email\nCid,c@x.net\nDan,d@x.net\n", 2],
  ])("not below %s with an item: its header is that of a second table", async (_, text, second) => {
    expect((await layout(text)).second?.linesBefore).toBe(second);
  });

  test("at the first line if the user says that there is a header", async () => {
    expect(await layout("Title;;\nid;email;x\n1;a@x.net;y\n", true)).toMatchObject({ above: 0 });
  });
});

test("a preamble of any shape does not change the layout found for a table", async () => {
  const title = fc.constantFrom(
    ...["Export from CRM", "Report 2024", "", "Notes:", note, "Date: 2024-05-01", "exported by Ann, Bob, and Carl"],
  );
  const tables = fc.constantFrom(
    "id,name,email\n1,Ann,a@x.net\n2,Bob,b@x.net\n",
    "Nr;Name;Kontakt\n1;Ann;a@x.net\n2;Bob;b@x.net\n",
    "email\na@x.net\nb@x.net\n",
    "1\ta@x.net\t2\n2\tb@x.net\t3\n",
  );
  await fc.assert(
    fc.asyncProperty(
      fc.array(title, { minLength: 1, maxLength: 5 }),
      fc.boolean(),
      tables,
      async (titles, padded, table) => {
        const alone = await layout(table);
        const padding = padded ? (alone.delimiter ?? "").repeat(2) : "";
        const lines = titles.map((line) => `${line}${padding}\n`).join("");
        const found = await layout(lines + table);
        expect(found.delimiter).toBe(alone.delimiter);
        // Without names, a last title with a field for each column may be the header.
        if (alone.header !== undefined) expect(found.header).toEqual(alone.header);
        else expect(found.header?.[0] ?? "").not.toBe("1");
      },
    ),
  );
});

test.each([
  ["sep=;\r\na;b\r\n", { delimiter: ";", length: 7 }],
  ['"sep=,"\na,b\n', { delimiter: ",", length: 8 }],
  ["SEP=\t\n", { delimiter: "\t", length: 6 }],
  ["sep=;;\n", undefined],
  ["email\n", undefined],
])("reads Excel's separator line, if any, in %j", (text, expected) => {
  expect(separatorLine(Buffer.from(text))).toEqual(expected);
});
