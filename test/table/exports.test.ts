/**
 * Covers files shaped after the exports of well-known programs: without any option, the right column is validated and
 * every byte is kept. The files are in fixtures/exports; the people in them are invented.
 */
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { idv } from "../support/run-here.js";
import { fixtures } from "../support/run-idv.js";

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

const usual = "ok disposable - ok fake";

/** The position, from 1, and the name of the column with addresses, the statuses, the lines above the header, other such columns. */
type Export = [
  ...[file: string, delimiter: string, column: number, columnName: string, statuses: string],
  ...[above?: number, ...passedOver: string[]],
];

test.each<Export>([
  ["mailchimp-audience.csv", ",", 1, "Email Address", "ok disposable fake ok"],
  [
    "hubspot-contacts.csv",
    ",",
    4,
    "Email",
    "ok disposable - fake ok",
    0,
    '11 "Work email"',
    '12 "Additional email addresses"',
  ],
  ["klaviyo-profiles.csv", ",", 1, "Email", "ok - disposable fake"],
  ["shopify-customers.csv", ",", 4, "Email", usual],
  ["stripe-customers.csv", ",", 3, "Email", usual],
  ["salesforce-contacts-report.csv", ",", 11, "Email", usual],
  ["google-contacts.csv", ",", 19, "E-mail 1 - Value", usual, 0, '21 "E-mail 2 - Value"'],
  [
    ...(["outlook-contacts.csv", ",", 17, "E-mail Address", usual, 0, '19 "E-mail Display Name"'] as const),
    ...['20 "E-mail 2 Address"', '22 "E-mail 2 Display Name"'],
  ],
  ["thunderbird-address-book.csv", ",", 5, "Primary Email", usual, 0, '6 "Secondary Email"'],
  ["linkedin-connections.csv", ",", 4, "Email Address", "- disposable - ok fake", 3],
  ["typeform-responses.csv", ",", 3, "And your *email address*, {{field:first_name}}?", usual],
  [
    "google-forms-responses.csv",
    ",",
    2,
    "Email Address",
    "ok ok disposable fake",
    0,
    '5 "E-mail address of the colleague you bring, if any"',
  ],
  ["excel-german.csv", ";", 5, "E-Mail", "ok disposable fake - ok"],
  ["excel-french.csv", ";", 5, "Adresse e-mail", "ok disposable - fake", 2],
  ["excel-swedish.csv", ";", 4, "E-postadress", usual, 1],
  ["excel-japanese.csv", ",", 4, "メールアドレス", usual],
  ["excel-unicode-text.txt", "\t", 3, "E-mail", "ok disposable fake ok -"],
])("reads %s, and writes it with a status in every row", async (...row) => {
  const [file, delimiter, column, columnName, words, above = 0, ...passedOver] = row;
  // A row without an address has none.
  const statuses = words.split(" ").map((status) => (status === "-" ? "" : status));
  const path = `${fixtures}exports/${file}`;
  const { code, stdout, stderr } = await idv(["emails", path, "--log", "json"]);
  expect(code, stderr).toBe(0);

  const summary = JSON.parse(stderr.trimEnd().split("\n").at(-1) ?? "");
  expect(summary).toMatchObject({ inputs: [{ column, columnName, passedOver }] });

  const input = readExport(path);
  const lineEnd = input.includes("\r\n") ? "\r\n" : "\n";
  const records = recordsOf(input, lineEnd);
  expect(records).toHaveLength(above + 1 + statuses.length);
  const added = [...Array<string>(above).fill(""), ...["status", ...statuses].map((s) => delimiter + s)];
  const end = input.endsWith(lineEnd) ? lineEnd : "";
  expect(stdout).toBe(records.map((record, i) => record + added[i]).join(lineEnd) + end);
});
