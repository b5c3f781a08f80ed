/** Covers what a message says was meant by a word that is not known: an option, a value, a command. */
import { describe, expect, test } from "vitest";
import { meantBy } from "../../../src/core/meant.js";
import { idv } from "../../support/run-here.js";
import { folderOf } from "../../support/temporary-folder.js";

test.each<[string, readonly string[], string | undefined]>([
  ["--delim", ["--delimiter", "--drop"], "--delimiter"],
  ["--prot", ["--host", "--port"], "--port"],
  ["batchsize", ["batchSize", "baseUrl"], "batchSize"],
  ["disposible", ["disposable", "ok"], "disposable"],
  ["--resume", ["--dedupe", "--report"], undefined],
  ["--remove", ["--report"], undefined],
  ["--smtp", ["--set"], undefined],
  ["online", ["offline", "api"], undefined],
  ["--no-explain", ["--explain", "--no-headers"], undefined],
  ["--no-header", ["--explain", "--no-headers"], "--no-headers"],
  ["", ["ok"], undefined],
  ["--", ["--set"], undefined],
])("%j is meant to be one of %j: %j", (word, known, meant) => expect(meantBy(word, known)).toBe(meant));

const list = "email\nann@larch-and-oak.com\n";
const home = folderOf({ "list.csv": list, "summer fair.csv": list });

describe("idv emails list.csv", () => {
  test.each([
    ["--delim=;", "unknown option --delim (did you mean --delimiter?); see idv emails --help"],
    ["--resume", "run the same command again"],
    ["--workers", "idv uses the cores by itself; for requests to a service at a time, write --set concurrency=N"],
    ["--limit=100", "for the first 100 rows, for example: head -n 101 FILE | idv emails"],
    ["-t=x", "write -d tab for fields between tabs"],
    ["-s=,", "unknown option -s; see"],
    ["--insecure", "NODE_EXTRA_CA_CERTS=FILE"],
    ["--set=apiKey=sk_X", "others can read a key on a command line"],
    ["--set=timeout=\u201c1m\u201d", 'type --set=timeout="1m"'],
    ["--base-url=htps://x.net", '--base-url: "htps://x.net" is invalid.'],
    ["--base-url=https://u:sk_X@x.net", "--base-url: the URL is invalid."],
    ["--base-url=sk_X", "--base-url: the URL is invalid."],
    ["--format=tab", "Did you mean tsv?"],
    ["--split=x.csv", "It takes a folder; for one file, write -o x.csv with --only STATUS."],
    ["-oq", "-oq: write -q -o"],
    ["/output", "/output: an option starts with --: --output"],
    ["--pdf", "write --report FILE.pdf"],
    ["-f", "FILE needs no option"],
    ["--status", "write --only STATUS"],
    ["--fix-typos", "write --fix"],
    ["--max-bad=2%", "write --fail-on disposable,fake:2%"],
    ["--apikey=K", "others can read a key on a command line"],
    ["--only=!fake", '"!fake" is invalid. For all but fake, write ok,alias,disposable.'],
    ["--only=!valid,!fake", '"!valid,!fake" is invalid. For all but ok, alias and fake, write disposable.'],
    ["--fail-on=~ok", '"~ok" is invalid. For all but ok, write alias,disposable,fake.'],
    ["--drop=!foo", '"foo" is invalid. Statuses of emails: ok, alias'],
    ["--format=ndjson", '--format: "ndjson" is invalid. Did you mean jsonl?'],
    ["--by=emial", 'no column "emial" for --by (did you mean "email"?)'],
    ["--by", "--by needs a value: --by <COLUMN>"],
    ["--format=xlsx", '--format: "xlsx" is invalid. A spreadsheet file has its name: -o FILE.xlsx.'],
    ["--smtp", "--dns asks for the mail servers"],
    ["--quiet=yes", "--quiet takes no value; see idv emails --help"],
    ["--nothing-like-it", "unknown option --nothing-like-it; see idv emails --help"],
    ["--drop=good,fake", '--drop: "good" is invalid. Did you mean ok,alias? Statuses of emails: ok, alias'],
    ["--drop=Bad", '--drop: "Bad" is invalid. Did you mean fake,disposable?'],
    ["--only=disposible", '--only: "disposible" is invalid. Did you mean disposable?'],
    ["--format=jsn", '--format: "jsn" is invalid. Did you mean json? It takes one of csv, tsv, jsonl, json.'],
    ["--fail-on=fake:200%", "a share of at most 100 %"],
    ["--fail-on=flag:role", '--fail-on: "flag:role" is invalid. It takes statuses; flags are for --only and --drop.'],
    ["--set=batchsize=5", '--set: "batchsize" is not a known setting (did you mean batchSize?)'],
    ["--set=engine=offlin", '--set engine: "offlin" is invalid. Did you mean offline?'],
    ["--base-url=validation.example.com", "Did you mean https://validation.example.com?"],
    ["--base-url=localhost:8787/v1", "Did you mean http://localhost:8787/v1?"],
    ["--base-url=[::1]:8787", "Did you mean http://[::1]:8787?"],
    ["--fail-on=fake>2%", '--fail-on: "fake>2%" is invalid. Write fake:2%.'],
    ["--fail-on=fake:5,5%", '--fail-on: "fake:5,5%" is invalid. Write fake:5.5%.'],
    ["--set=timeout=30sec", '--set timeout: "30sec" is invalid. Did you mean 30s?'],
    ["--set=cache=no", '--set: "cache" is not a known setting (write --cache=off)'],
    ["--log=run.log", '--log: "run.log" is invalid. Messages go to standard error: 2> run.log.'],
    ["--fail-on=fake=2%", '--fail-on: "fake=2%" is invalid. Write fake:2%.'],
    ["--fail-on=2%", '--fail-on: "2%" is invalid. Write disposable,fake:2%.'],
    ["--fail-on=150%", "a share of at most 100 %"],
    ["--fail-on=ok=1,fake", '"ok=1,fake" is invalid. One limit counts for all statuses: disposable,fake:2%.'],
    ["--set=allow=x", '"allow" is not a known setting (write --allow FILE, or set IDV_ALLOW)'],
    ["--max-retries=3", "unknown option --max-retries (write --set maxRetries=VALUE); see idv emails --help"],
    ["--delimiter=semicolon", '--delimiter: "semicolon" is invalid. Write ";".'],
    ["output=x.csv", "output=: an option starts with --: --output"],
    ["--drop=role", '--drop: "role" is invalid. Did you mean flag:role?'],
  ])("%s is answered with what was meant", async (word, message) => {
    const { code, stdout, stderr } = await idv(["emails", "list.csv", word], { home });
    expect([code, stdout]).toEqual([2, ""]);
    expect(stderr.trim().split("\n")).toEqual([expect.stringContaining(message)]);
  });

  test.each<[string[], RegExp]>([
    [
      ["keys", "create", "demo"],
      /^idv: too many words for idv keys create \(write --name NAME\); see idv keys create --help\n$/,
    ],
    [["quota", "set", "10000"], /^idv: too many words for idv quota set \(write --limit N\); see /],
    [["login", "list.csv"], /^idv: too many words for idv login \(write idv login < list.csv\); see /],
    [
      ["login", "sk_secret"],
      /^idv: too many words for idv login; a key on the command line .*: replace that key; see (?!.*sk_secret)/,
    ],
  ])("%j is answered with what is too much", async (words, message) => {
    expect(await idv(words, { home })).toMatchObject({ code: 2, stderr: expect.stringMatching(message) });
  });

  test.each([
    ["--set", "sk_secret", "none.csv"],
    ["--set", "apiKey", "sk_secret"],
    ["--set", "timeout=1m", "timeout=sk_secret"],
    ["--set", "timeout", "sk_secret"],
  ])("does not print the secret in %s %s %s", async (...words) => {
    const { code, stderr } = await idv(["emails", "list.csv", ...words], { home });
    expect([code === 0, stderr]).toEqual([false, expect.not.stringContaining("sk_secret")]);
  });

  test.each(["--api-key=sk_secret", "-k=sk_secret", "--base-url=ann:sk_secret@host"])(
    "does not print the secret in %s",
    async (word) => {
      const { code, stderr } = await idv(["emails", "list.csv", word], { home });
      expect([code, stderr]).toEqual([2, expect.not.stringContaining("sk_secret")]);
    },
  );

  test.each([
    ["--dedupe", "canonical"],
    ["--fix", "all"],
    ["--dns", "strict"],
    ["--update", "all"],
  ])("%s %s is answered with the way to write the value", async (option, value) => {
    const { code, stderr } = await idv(["emails", "list.csv", option, value], { home });
    const message = `idv: ${value}: no such file; the value of ${option} is written ${option}=${value}\n`;
    expect([code, stderr]).toEqual([2, message]);
  });

  test.each([
    ["--dedupe", "mailbox", "--dedupe=item or --dedupe=canonical"],
    ["--dedupe", "item,canonical", "--dedupe=item or --dedupe=canonical"],
    ["--wait", "soon", "--wait=TIME"],
  ])("%s %s is answered with the values that there are", async (option, word, written) => {
    const { code, stderr } = await idv(["emails", "list.csv", option, word], { home });
    expect([code, stderr]).toEqual([2, `idv: ${word}: no such file; the value of ${option} is written ${written}\n`]);
  });

  test.each<[string[], string]>([
    [["\u2212\u2212explain"], "\u2212\u2212explain: has the dash of a text program; type --explain"],
    [["\u2013-explain"], "\u2013-explain: has the dash of a text program; type --explain"],
    [["\u201cmy"], '\u201cmy: begins with the quotation mark of a text program; type "'],
    [["\u200b--explain"], "\u200b--explain: has an unseen character in it (U+200B); type it again"],
    [["-o", "x.csv\r"], "a word ends in a carriage return; save the script with the line ends of Unix (LF)"],
    [["-I.bak\r"], "a word ends in a carriage return; save the script with the line ends of Unix (LF)"],
    [["--dns", "strict:5%"], "strict:5%: no such file; the value of --dns is written --dns=strict:5%"],
    [["\u2013o", "x.csv"], "\u2013o: has the dash of a text program; type -o"],
    [["\u2014drop", "fake"], "\u2014drop: has the dash of a text program; type --drop"],
    [["-o", "\u201cx.csv\u201d"], '\u201cx.csv\u201d: has the quotation marks of a text program; type "x.csv"'],
    [["\\"], '"\\": remove the space after the \\ at the end of the line'],
    [["-output", "x.csv"], "-output: write --output"],
    [["-only=fake"], "-only: write --only=fake"],
    [["-o=x.csv"], "-o=x.csv: write -o x.csv"],
    [["-I=.bak"], "-I=.bak: write --in-place=.bak"],
    [["-o", "a.csv", "-o", "b.csv"], "--output is given twice; leave out one of them"],
    [["--split", "a", "--split", "b"], "--split is given twice; leave out one of them"],
    [["--by", "-o", "x.csv"], "--by needs a value, and -o is an option; write --by <COLUMN>"],
    [["-o", "--help"], "-o needs a value, and --help is an option; write -o, --output <FILE>"],
    [["-o", "--only", "ok"], "-o needs a value, and --only is an option; write -o, --output <FILE>"],
    [["--by", "a", "--by", "b"], "--by is given twice; leave out one of them"],
    [
      ["--fail-on", "fake:2%,disposable"],
      '--fail-on: "fake:2%,disposable" is invalid. One limit counts for all statuses: disposable,fake:2%.',
    ],
    [
      ["--dry-run", "--fail-on", "fake"],
      "--fail-on: a dry run has no statuses; leave out --dry-run, or use --fail-on no-rows",
    ],
    [["--sheet", "a", "--sheet", "b"], "--sheet is given twice; leave out one of them"],
    [["--log", "sarif"], '--log: "sarif" is invalid. It needs a file: --log sarif:FILE.'],
    [["--encoding", "same"], '--encoding: "same" is invalid. That is for the output: --encoding :same.'],
    [["--quota", "10000"], `--quota: no file "10000"; for a limit, run idv quota set --limit 10000`],
    [["--drop", "fake", "disposable"], "disposable: values are joined by commas, as in --drop fake,disposable"],
    [["--only=ok", "alias"], "alias: values are joined by commas, as in --only ok,alias"],
    [["--only", "ok", "alias"], "alias: values are joined by commas, as in --only ok,alias"],
    [["--fail-on", "no-rows:3"], '--fail-on: "no-rows:3" is invalid. no-rows has no limit.'],
    [["--split", "list.csv"], "list.csv: is a file; name a folder"],
    [["--explain", "yes"], "--explain takes no value; leave out yes"],
    [["-c", "1,1"], 'no column "1,1"; repeat the option: -c 1 -c 1'],
    [["-c", "email,email"], 'no column "email,email"; repeat the option: -c email -c email'],
    [
      ["--base-url", "https://a.de/v1/emails/validate"],
      "--base-url: the URL is invalid. It is the URL before /emails/validate.",
    ],
    [["-out", "x.csv"], "-out: write -o, --output <FILE>"],
    [["-Iq"], "-Iq: write -I -q"],
    [["-I="], "-I=: write -I"],
    [["--wait="], "--wait= needs a value: --wait [TIME]"],
    [["--help=x"], "--help takes no value; see idv emails --help"],
    [["--hlep"], "--hlep: for the help, write --help"],
    [["-help"], "-help: for the help, write --help"],
    [["/?"], "/?: for the help, write --help"],
    [["--dns", "8.8.8.8"], "8.8.8.8: no such file; a DNS server is named with --set dnsServer=8.8.8.8"],
    [["--bad-rows", "skip", "b.csv"], "b.csv: no such file; the list of bad rows is written --bad-rows skip:b.csv"],
    [["--bad-rows", "skip:"], '--bad-rows: "skip:" is invalid. The name of a file or folder is missing.'],
    [["--set", "timeout", "1m"], '--set: "timeout" has no value; write --set timeout=VALUE'],
    [["--set", "timeout:1m"], "--set: write timeout=VALUE"],
    [["--set", "timeout = 1m"], "--set: write timeout=VALUE, without blanks around ="],
    [["--set", "timeout=1m", "cell=best"], "cell=...: no such file; each setting has its own option: --set cell=VALUE"],
    [
      ["--wait", "30sec"],
      '--wait: "30sec" is invalid. Did you mean 30s? It takes a time such as 500ms, 30s, 2m, 1h or 30d.',
    ],
    [["-I", "old"], "old: no such file; to keep the old files, write -I.old, without a space"],
    [["-o", "https://a.de/o.csv"], '--output: "https://a.de/o.csv" is invalid. It takes a file; idv writes to no URL.'],
    [["-o", "~/o.csv"], '--output: "~/o.csv" is invalid. The shell knows ~ only without quotes.'],
    [["-o", "o.cvs"], '--output: "o.cvs" is invalid. Did you mean .csv?'],
    [["-o", "o.png"], "o.png: .png cannot be written; name it .csv, .tsv, .jsonl, .json or .xlsx"],
    [["-o", " "], '--output: " " is invalid. It must not be empty.'],
    [["--report", "full=r.html"], '--report: "full=r.html" is invalid. Write full:r.html.'],
    [
      ["--report", "html:r.html"],
      '--report: "html:r.html" is invalid. The ending of FILE is its format: write r.html.',
    ],
    [["-d", "t"], '--delimiter: "t" is invalid. A letter separates nothing; for a tab, write tab.'],
    [["-d", "space"], '--delimiter: "space" is invalid. Write " ".'],
    [["--comment", "hash"], '--comment: "hash" is invalid. Write "#".'],
    [["--drop", "duplicates"], '--drop: "duplicates" is invalid. For duplicates, write --dedupe.'],
    [
      ["--quota", "https://a.de/q"],
      "--quota: https://... is not supported; write postgres://host/database#NAME, or name a file",
    ],
    [["--quota", "10k"], `--quota: no file "10k"; for a limit, run idv quota set --limit 10000`],
    [["--quota", "q.db#"], "--quota needs the name of the quota, too: q.db#NAME"],
    [["summer fair.csv", "-o", "od"], "-o od: no such folder; to create it, write -o od/"],
    [["--dns=8.8.8.8"], '--dns: "8.8.8.8" is invalid. For a server, write --set dnsServer=8.8.8.8.'],
  ])("%j is answered with what to type", async (words, message) => {
    const { code, stdout, stderr } = await idv(["emails", "list.csv", ...words], { home });
    expect([[2, 6].includes(code!), stdout, stderr]).toEqual([true, "", `idv: ${message}\n`]);
  });

  test.each([
    ["fake|disposable"],
    ["fake+disposable"],
    ["fake; disposable"],
    ["fake,,disposable"],
    ["fake disposable"],
  ])("takes --drop %j", async (value) => {
    const { code, stdout } = await idv(["emails", "list.csv", "--offline", "-q", "--drop", value], { home });
    expect([code, stdout]).toEqual([0, "email,status\nann@larch-and-oak.com,ok\n"]);
  });

  test("takes = as a delimiter", async () => {
    const own = folderOf({ "list.csv": "id=email\n1=ann@larch-and-oak.com\n" });
    const { code, stdout } = await idv(["emails", "list.csv", "--offline", "-q", "-d="], { home: own });
    expect([code, stdout]).toEqual([0, "id=email=status\n1=ann@larch-and-oak.com=ok\n"]);
  });

  test("takes what is like a slip as the value of an option", async () => {
    const own = folderOf({ "list.csv": "-output,note\n1,ann@larch-and-oak.com\n" });
    const { code, stderr } = await idv(["emails", "list.csv", "--offline", "-c", "\u2013e"], { home: own });
    expect([code, stderr]).toEqual([2, expect.stringContaining('no column "\u2013e"')]);
    const named = await idv(["emails", "list.csv", "--offline", "-q", "--force", "-c", "-output"], { home: own });
    expect(named.code).toBe(0);
  });

  test("takes statuses and choices in any case", async () => {
    const words = ["--only", "OK", "--format", "JSON", "--bad-rows", "Skip"];
    const args = ["emails", "--offline", "-q", ...words, "list.csv"];
    const { code, stdout } = await idv(args, { home });
    expect([code, stdout]).toEqual([0, expect.stringContaining('"status":"ok"')]);
  });
});

test.each([
  [["keys", "delete", "x"], "unknown command delete (did you mean revoke?); see idv keys --help"],
  [["keys", "new"], "(did you mean create?)"],
  [["help", "emials"], "unknown topic emials (did you mean emails?); topics: recipes"],
  [["emails", "--unique"], "unknown option --unique (write --dedupe)"],
  [["allow", "mailinator.com"], "(write idv allow add mailinator.com)"],
  [["keys", "create", "--name", "a", "--state", "postgre://h/d"], "postgre://... is not supported; write postgres://"],
  [
    ["check", "a@b.de", "--fail-on", "disposable", "fake"],
    "fake: values are joined by commas, as in --fail-on disposable,fake",
  ],
  [["check", "a@b.de", "--explain"], "(the reason and the suggestion are always printed; --why prints more)"],
  [["check", "a@b.de", "-o", "x"], "unknown option -o (write > FILE); see idv check --help"],
  [["-o", "x.csv", "emails", "list.csv"], "-o goes after idv emails; see idv emails --help"],
  [["recipes"], "unknown command recipes (write idv help recipes); see idv --help"],
  [["https://b.net"], "to check a domain: idv check https://b.net"],
  [["emails list.csv"], "(leave out the quotes: idv emails list.csv)"],
  [["emails=list.csv"], "(write idv emails list.csv)"],
  [["help", "docker"], "unknown topic docker (write idv help service)"],
  [["help", "IDV_QUOTA"], "(write idv help environment)"],
  [["help", "4"], "(write idv help exit-codes)"],
  [["serve", "stop"], "(idv serve starts it, Ctrl-C ends it, --ready asks whether it runs)"],
  [["serve", "--listen", "x"], "unknown option --listen (write --host ADDRESS)"],
  [["serve", "--host", "0.0.0.0:8080"], '"0.0.0.0:8080" is invalid. Write --host 0.0.0.0 --port 8080.'],
  [["serve", "--host", "http://[::1]:80/x"], "Write --host ::1 --port 80."],
  [["login", "https://b.net"], "(write --base-url URL)"],
  [["keys", "create", "--name", "a", "--permissions", "emails", "domains"], "--permissions emails,domains"],
  [["keys", "create", "--name", "a\nb"], "It takes 1 to 100 characters"],
  [["usage", "--days", "7"], "unknown option --days (write --since TIME, as in 30d)"],
  [["login", "--url", "https://b.net"], "unknown option --url (write --base-url URL)"],
  [["cache", "prune", "90d"], "(write --older-than TIME)"],
  [["emails", "-F", ";"], "unknown option -F (write -d CHAR)"],
  [["emails", "list.csv", "--all"], 'for all columns, write -c "*", and for all sheets, --sheet "*"'],
  [["serve", "--host", "http://"], "It takes an address, such as 127.0.0.1."],
  [["keys", "create", "--name", "a", "--expires", "99999999999999d"], "It takes a date such as 2027-01-31, or never."],
  [["check-email", "a@b.de"], "(write idv check ADDRESS)"],
  [["quota", "--limit", "5"], "(write idv quota set --limit N)"],
  [["--offline", "emails", "list.csv"], "--offline goes after idv emails; see idv emails --help"],
  [["allow", "rm", "web.de"], "(did you mean remove?)"],
  [["data", "refresh"], "(did you mean update?)"],
  [["state", "restore"], "(did you mean import?)"],
  [["cache", "info"], "(did you mean stats?)"],
  [["quota", "frobnicate"], "unknown command frobnicate; see idv quota --help"],
  [["frobnicate", "--help"], "unknown command frobnicate; see idv --help"],
  [["frobnicate", "emails", "--help"], "unknown command frobnicate; see idv emails --help"],
  [["emials", "-h"], "unknown command emials (did you mean emails?); see idv --help"],
  [["keys", "rotate"], "keys rotate needs ID; see idv keys rotate --help"],
])("idv %j is answered with the command of the group", async (words, message) => {
  const { code, stdout, stderr } = await idv(words, { home });
  expect([code, stdout, stderr]).toEqual([2, "", expect.stringContaining(message)]);
});

test.each([
  [["quota", "set"], "Usage: idv quota set [options]"],
  [["Keys", "list"], "Usage: idv keys list"],
  [["nothing", "here"], "unknown topic nothing here"],
  [["emails"], "Usage: idv emails"],
  [["SETTINGS"], "SETTINGS"],
])("idv help %j prints the help of the command or the topic", async (words, start) => {
  const { stdout, stderr } = await idv(["help", ...words], { home });
  expect(stdout || stderr).toContain(start);
});

test.each([
  [["annlee12gmail.com"], "annlee12gmail.com: checked as a domain, since it has no @"],
  [["ann@b.net", "bob.oakhotmail.co.uk"], "bob.oakhotmail.co.uk: checked as a domain, since it has no @"],
  [["ann@b.net", "b.net"], undefined],
  [["ann@b.net,bob@c.net"], "checked as one value; separate several with spaces: ann@b.net bob@c.net"],
  [["b.net", "mygmail.shop.net", "https://larch-and-oak.com/x"], undefined],
  [["Ann Lee <ann@b.net>", '"a b"@b.net'], undefined],
])("idv check %j notes %j", async (values, note) => {
  const { stdout, stderr } = await idv(["check", ...values], { home });
  expect(stdout.trimEnd().split("\n")).toHaveLength(values.length);
  expect(stderr).toEqual(note === undefined ? "" : expect.stringContaining(note));
});

test("names of columns may be those of files, and words with = items", async () => {
  const own = folderOf({ "list.csv": "fair.csv\nann@larch-and-oak.com\n", "fair.csv": list });
  const { code, stdout } = await idv(["emails", "list.csv", "--offline", "-q", "-c", "fair.csv"], { home: own });
  expect([code, stdout]).toEqual([0, "fair.csv,status\nann@larch-and-oak.com,ok\n"]);
  expect((await idv(["check", "allow=ann@larch-and-oak.com"], { home })).code).toBe(0);
});

test.each([
  ["validate", "to check a list: idv emails list.csv, and an address: idv check ADDRESS"],
  ["version", "write idv --version"],
  ["-v", "write idv --version"],
  ["whitelist", "write idv allow add DOMAIN"],
  ["mailinator.com", "to check a domain: idv check mailinator.com"],
  ["/?", "write idv --help"],
  ["ann@gmail.com", "to check an address: idv check ann@gmail.com"],
  ["a@b.net,c@d.net", "to check addresses: idv check a@b.net c@d.net"],
  ["report.docx", "to check a list: idv emails report.docx"],
  ["my list.csv", "to check a list: idv emails 'my list.csv'"],
  ["undo", "with -I.bak, the old file is list.csv.bak"],
  ["emal", "did you mean emails?"],
])("idv %s is answered with the command that was meant", async (word, message) => {
  const { code, stderr } = await idv([word], { home });
  expect([code, stderr]).toEqual([2, expect.stringContaining(message)]);
});

describe("a file that is not there is answered with what was meant", () => {
  test.each([
    [["emails", "lst.csv"], 6, "lst.csv: cannot be read: no such file; did you mean list.csv?"],
    [["emails", "ann@b.net"], 6, "ann@b.net: cannot be read: no such file; to check an address: idv check ann@b.net"],
    [["domains", "b.net"], 6, "b.net: cannot be read: no such file; to check a domain: idv check b.net"],
    [
      ["emails", "s3://lists/may.csv"],
      2,
      "s3://lists/may.csv: is a URL, and idv reads files: copy it to this machine first",
    ],
    [["emails", "*.xls"], 6, "*.xls: cannot be read: no such file; no name of a file matches it"],
    [
      ["emails", "li?t.*"],
      6,
      "li?t.*: cannot be read: no such file; leave out the quotes, so that the shell finds the files",
    ],
    [
      ["emails", "list.csv -q"],
      6,
      "list.csv -q: cannot be read: no such file; the options belong outside the quotes: list.csv -q",
    ],
    [
      ["emails", "list.csv,summer fair.csv"],
      6,
      "list.csv,summer fair.csv: cannot be read: no such file; write several files with spaces between them: list.csv 'summer fair.csv'",
    ],
    [["emails", "~/list.csv"], 6, "~/list.csv: cannot be read: no such file; in quotes, the shell leaves ~ as it is"],
    [["emails", ".\\list.csv"], 6, ".\\list.csv: cannot be read: no such file; did you mean ./list.csv?"],
    [["domains", "help"], 6, "help: cannot be read: no such file; for the help: idv domains --help"],
    [["emails", "other.tsv"], 6, "other.tsv: cannot be read: no such file"],
    [["emails", "test.csv"], 6, "test.csv: cannot be read: no such file"],
    [
      ["emails", "a@b.net,c@d.net"],
      6,
      "a@b.net,c@d.net: cannot be read: no such file; to check addresses: idv check a@b.net c@d.net",
    ],
    [
      ["emails", "https://docs.google.com/spreadsheets/d/a-b/edit"],
      2,
      "https://docs.google.com/spreadsheets/d/a-b/edit: is a URL, and idv reads files: curl -sSfL 'https://docs.google.com/spreadsheets/d/a-b/export?format=csv' | idv emails",
    ],
    [["emails", "list.csv", "out.csv"], 2, "out.csv: no such file; if the output is meant, write -o out.csv"],
    [["emails", "list.csv", "list2.csv"], 2, "list2.csv: no such file; if the output is meant, write -o list2.csv"],
    [["emails", "list.csv", "lizt.csv"], 2, "lizt.csv: no such file; if the output is meant, write -o lizt.csv"],
    [["emails", "list.csv", "check"], 6, "check: cannot be read: no such file"],
    [["emails", "list.csv", "backup@2024 old"], 6, "backup@2024 old: cannot be read: no such file"],
    [["emails", "list.csv", "2%"], 6, "2%: cannot be read: no such file"],
    [["emails", "list.csv", "nothere.csv", "-o", "x.csv"], 6, "nothere.csv: cannot be read: no such file"],
    [["emails", "summer", "fair.csv"], 2, "summer: no such file; quote the name: 'summer fair.csv'"],
    [["emails", "--", "list.csv", "-q"], 2, "-q: no such file; options go in front of --"],
    [
      ["emails", "list.csv", "-c", "summer fair.csv", "list.csv"],
      2,
      'summer fair.csv: is a file; a star needs quotes: "*"',
    ],
    [
      ["emails", "an lee@b.net"],
      6,
      "an lee@b.net: cannot be read: no such file; to check an address: idv check 'an lee@b.net'",
    ],
    [["emails", "file:///tmp/a.csv"], 2, "file:///tmp/a.csv: is a URL, and idv reads files: write /tmp/a.csv"],
    [
      ["domains", "https://b.net"],
      2,
      "https://b.net: is a URL, and idv reads files: to check a domain: idv check https://b.net",
    ],
    [
      ["domains", "list.csv", "http://b.net/a?b&c"],
      2,
      "http://b.net/a?b&c: is a URL, and idv reads files: curl -sSf 'http://b.net/a?b&c' | idv domains",
    ],
    [
      ["emails", "ann@b.net", "bob@c.net"],
      6,
      "ann@b.net: cannot be read: no such file; to check an address: idv check ann@b.net",
    ],
    [
      ["emails", "list.csv", "bob@c.net"],
      6,
      "bob@c.net: cannot be read: no such file; to check an address: idv check bob@c.net",
    ],
    [["domains", "b.net", "c.net"], 6, "b.net: cannot be read: no such file; to check a domain: idv check b.net"],
    [["emails", "list.csv", "./list.csv", "-o", "out/"], 2, "./list.csv: is named twice; leave out one of them"],
    [["emails", "lst.csv", "list2.csv", "x.csv"], 6, "lst.csv: cannot be read: no such file; did you mean list.csv?"],
  ])("idv %j", async (args, code, message) => {
    expect(await idv(args, { home })).toEqual({ code, stdout: "", stderr: `idv: ${message}\n` });
  });
});

test.each([
  [["check", "--dns", "off", "a@b.net"], "off: the value of --dns is written --dns=off"],
  [["serve", "--dns", "strict"], "strict: the value of --dns is written --dns=strict"],
  [["check", "--set", "engine=api", "a@b.net"], "--set: idv check asks no service"],
  [["check", "@list.csv"], "@list.csv: for the lines of a file, write idv check - < list.csv"],
  [["completion", "ksh"], '"ksh" is invalid. It takes one of bash'],
  [["completion", "bash", "zsh"], "zsh: one shell at a time"],
])("%j is refused", async (words, message) => {
  const { code, stdout, stderr } = await idv(words, { home });
  expect([code, stdout, stderr]).toEqual([2, "", expect.stringContaining(message)]);
});

test("values may hold unseen characters, and end in a carriage return where they are checked", async () => {
  const own = folderOf({ "list.csv": "E\u00a0mail\nann@larch-and-oak.com\n" });
  for (const words of [["-c", "E\u00a0mail"], ["-cE\u00a0mail"], ["-qc", "E\u00a0mail"]])
    expect((await idv(["emails", "list.csv", "--offline", ...words], { home: own })).code, String(words)).toBe(0);
  expect((await idv(["check", "ann@larch-and-oak.com\r"], { home })).code).toBe(0);
  expect((await idv(["doctor"], { home, env: { IDV_QUOTA: "q.db\r" } })).stderr).not.toContain("carriage return");
});

test("variables with a line end of Windows are refused", async () => {
  const { code, stderr } = await idv(["emails", "list.csv"], { home, env: { IDV_QUOTA: "q.db\r" } });
  expect([code, stderr]).toEqual([
    2,
    "idv: IDV_QUOTA: ends in a carriage return; save the file that sets it with line ends of Unix (LF)\n",
  ]);
});

test("idv check of a file is answered with the command for lists", async () => {
  expect(await idv(["check", "list.csv"], { home })).toMatchObject({
    code: 2,
    stderr: "idv: list.csv: is a file; to check a list: idv emails list.csv\n",
  });
  const stderr = "idv: lst.csv: no such file; to check a list: idv emails FILE\n";
  expect(await idv(["check", "lst.csv"], { home })).toEqual({ code: 6, stdout: "", stderr });
  // There are domains that end so.
  expect((await idv(["check", "larch.zip", "ann@larch.csv", "lst.csv"], { home })).code).toBe(0);
});

test.each([
  ["emails", "Ann <ann@larch-and-oak.com>", "to check an address: idv check ann@larch-and-oak.com"],
  ["emails", "larch-and-oak.com", "to check a domain: idv check larch-and-oak.com"],
  ["domains", "ann@larch-and-oak.com", "to check an address: idv check ann@larch-and-oak.com"],
  ["emails", "lis.csv", "did you mean list.csv?"],
  ["emails", "x.csv", ""],
  ["emails", "notes.old", ""],
  ["emails", "archive.zip", ""],
])("idv %s %j, which is no file, is answered with %j", async (command, word, hint) => {
  const stderr = `idv: ${word}: cannot be read: no such file${hint === "" ? "" : `; ${hint}`}\n`;
  expect(await idv([command, word], { home })).toEqual({ code: 6, stdout: "", stderr });
});

test.each([
  [["check", "--mx", "a@b.net"], "write --dns"],
  [["check", "--base-url=http://x.net", "a@b.net"], "it asks no service; idv emails does"],
  [["emails\u00a0list.csv"], "it has an unseen character in it (U+00A0)"],
  [["."], "it is a folder; to check its lists: idv emails *.csv)"],
  [["whoami"], "write idv quota show, or idv doctor"],
  [["check", "--api_key=sk_secret", "a@b.net"], "others can read a key on a command line"],
  [["serve", "--api-key", "sk_secret"], "idv keys create makes the keys of a service"],
  [["VERIFY", "list.csv"], "to check a list: idv emails list.csv"],
  [["status"], "write idv quota show, or idv doctor"],
])("%j is answered with what it is here", async (words, instead) => {
  const { code, stderr } = await idv(words, { home });
  expect([code, stderr.includes(`(${instead}`), stderr.includes("sk_secret")]).toEqual([2, true, false]);
});

test("a dry run says whether the quota has enough", async () => {
  const own = folderOf({ "list.csv": "email\na@b.net\nc@d.net\n" });
  const dryRun = async () => (await idv(["emails", "list.csv", "--dry-run"], { home: own })).stderr;
  expect(await dryRun()).toMatch(/2 units would be charged\n$/);
  await idv(["quota", "set", "--limit", "1"], { home: own });
  expect(await dryRun()).toMatch(/2 units would be charged; the quota has 1 left \(0 used\), 1 too few\n$/);
  await idv(["quota", "set", "--limit", "5"], { home: own });
  expect(await dryRun()).toMatch(/2 units would be charged; the quota has 5 left \(0 used\)\n$/);
  await idv(["emails", "list.csv", "-o", "o.csv"], { home: own });
  expect(await dryRun()).toMatch(/2 units would be charged; the quota has 3 left \(2 used\)\n$/);
  const { stderr } = await idv(["quota", "set", "--limit", "10"], { home: own });
  expect(stderr).toBe("idv: 2 units are used already, of 10; idv quota reset sets them to 0\n");
});
