/**
 * Covers files shaped after the exports of well-known programs: without any option, the right column is validated and
 * every byte is kept. The files are in fixtures/exports; the people in them are invented.
 */
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { idv } from "../support/run-here.js";
import { fixtures } from "../support/run-idv.js";

interface Export {
  readonly file: string;
  readonly delimiter: string;
  /** Position, from 1, and name of the column with the addresses. */
  readonly column: readonly [number, string];
  /** Status of each row; empty for a row without an address. */
  readonly statuses: readonly string[];
  /** Number of lines above the header; 0 by default. */
  readonly above?: number;
  /** Other columns with addresses; none by default. */
  readonly passedOver?: readonly string[];
}

/** Reads a fixture as the program is expected to copy it: UTF-16 as UTF-8. Returns a binary string. */
function readExport(path: string): string {
  const bytes = readFileSync(path);
  const isUtf16 = bytes[0] === 0xff && bytes[1] === 0xfe;
  return (isUtf16 ? Buffer.from(bytes.toString("utf16le")) : bytes).toString("latin1");
}

/** Splits a text into records without their line ends. A record goes on while a quote is open. */
function recordsOf(text: string, lineEnd: string): string[] {
  const records: string[] = [];
  let open = "";
  for (const line of text.split("\n")) {
    open += line;
    if (open.split('"').length % 2 === 1) {
      records.push(lineEnd === "\r\n" ? open.replace(/\r$/, "") : open);
      open = "";
    } else {
      open += "\n";
    }
  }
  // The text after the last line end is no record.
  return records.at(-1) === "" ? records.slice(0, -1) : records;
}

test.each<Export>([
  {
    file: "mailchimp-audience.csv",
    delimiter: ",",
    column: [1, "Email Address"],
    statuses: ["ok", "disposable", "fake", "ok"],
  },
  {
    file: "hubspot-contacts.csv",
    delimiter: ",",
    column: [4, "Email"],
    statuses: ["ok", "disposable", "", "fake", "ok"],
    passedOver: ['11 "Work email"', '12 "Additional email addresses"'],
  },
  { file: "klaviyo-profiles.csv", delimiter: ",", column: [1, "Email"], statuses: ["ok", "", "disposable", "fake"] },
  {
    file: "shopify-customers.csv",
    delimiter: ",",
    column: [4, "Email"],
    statuses: ["ok", "disposable", "", "ok", "fake"],
  },
  {
    file: "stripe-customers.csv",
    delimiter: ",",
    column: [3, "Email"],
    statuses: ["ok", "disposable", "", "ok", "fake"],
  },
  {
    file: "salesforce-contacts-report.csv",
    delimiter: ",",
    column: [11, "Email"],
    statuses: ["ok", "disposable", "", "ok", "fake"],
  },
  {
    file: "google-contacts.csv",
    delimiter: ",",
    column: [19, "E-mail 1 - Value"],
    statuses: ["ok", "disposable", "", "ok", "fake"],
    passedOver: ['21 "E-mail 2 - Value"'],
  },
  {
    file: "outlook-contacts.csv",
    delimiter: ",",
    column: [17, "E-mail Address"],
    statuses: ["ok", "disposable", "", "ok", "fake"],
    passedOver: ['20 "E-mail 2 Address"'],
  },
  {
    file: "thunderbird-address-book.csv",
    delimiter: ",",
    column: [5, "Primary Email"],
    statuses: ["ok", "disposable", "", "ok", "fake"],
    passedOver: ['6 "Secondary Email"'],
  },
  {
    file: "linkedin-connections.csv",
    delimiter: ",",
    column: [4, "Email Address"],
    statuses: ["", "disposable", "", "ok", "fake"],
    above: 3,
  },
  {
    file: "typeform-responses.csv",
    delimiter: ",",
    column: [3, "And your *email address*, {{field:first_name}}?"],
    statuses: ["ok", "disposable", "", "ok", "fake"],
  },
  {
    file: "google-forms-responses.csv",
    delimiter: ",",
    column: [2, "Email Address"],
    statuses: ["ok", "ok", "disposable", "fake"],
    passedOver: ['5 "E-mail address of the colleague you bring, if any"'],
  },
  { file: "excel-german.csv", delimiter: ";", column: [5, "E-Mail"], statuses: ["ok", "disposable", "fake", "", "ok"] },
  {
    file: "excel-french.csv",
    delimiter: ";",
    column: [5, "Adresse e-mail"],
    statuses: ["ok", "disposable", "", "fake"],
    above: 2,
  },
  {
    file: "excel-swedish.csv",
    delimiter: ";",
    column: [4, "E-postadress"],
    statuses: ["ok", "disposable", "", "ok", "fake"],
    above: 1,
  },
  {
    file: "excel-japanese.csv",
    delimiter: ",",
    column: [4, "メールアドレス"],
    statuses: ["ok", "disposable", "", "ok", "fake"],
  },
  {
    file: "excel-unicode-text.txt",
    delimiter: "\t",
    column: [3, "E-mail"],
    statuses: ["ok", "disposable", "fake", "ok", ""],
  },
])("reads $file, and writes it with a status in every row", async (expected) => {
  const { file, delimiter, column, statuses, above = 0, passedOver = [] } = expected;
  const path = `${fixtures}exports/${file}`;
  const { code, stdout, stderr } = await idv(["emails", path, "--log", "json"]);
  expect(code, stderr).toBe(0);

  const summary = JSON.parse(stderr.trimEnd().split("\n").at(-1) ?? "");
  expect(summary).toMatchObject({ inputs: [{ column: column[0], columnName: column[1], passedOver }] });

  const input = readExport(path);
  const lineEnd = input.includes("\r\n") ? "\r\n" : "\n";
  const records = recordsOf(input, lineEnd);
  expect(records).toHaveLength(above + 1 + statuses.length);
  const added = [...Array<string>(above).fill(""), ...["status", ...statuses].map((s) => delimiter + s)];
  const end = input.endsWith(lineEnd) ? lineEnd : "";
  expect(stdout).toBe(records.map((record, i) => record + added[i]).join(lineEnd) + end);
});
