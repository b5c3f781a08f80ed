/**
 * Generates the newsletter export in `fixtures/`: 1,000 subscribers as a mailing service exports them, always the same.
 * All people are invented.
 */

/** Fields of a row, and the status that its address should get. */
export interface Subscriber {
  readonly fields: readonly string[];
  readonly status: string;
}

export const newsletterHeader =
  "subscriber_id first_name last_name email country source subscribed_at opens note".split(" ");

const firstNames =
  "Anna Ben Clara David Emma Felix Grace Hugo Ines Jonas Karin Liam Mona Nils Olga Paul Rosa Simon Tara Zoë".split(" ");
const lastNames = [
  ..."Adler Brown Costa Dubois Eriksen Fischer García Hansen Ivanova Jansen Keller Lopez Müller Novak".split(" "),
  ..."O'Brien Petit Rossi Schmidt Tanaka Weber".split(" "),
];
const companies = [
  ..."larch-and-oak.com brightmill.co.uk nordlicht-verlag.de atelier-rive.fr campo-verde.es".split(" "),
  ..."fjordline-books.no papyrus-studio.it willowbank.ie kestrel-tools.com.au maplegate.ca".split(" "),
];
const freeMail =
  "gmail.com outlook.com hotmail.co.uk yahoo.fr icloud.com gmx.de web.de proton.me orange.fr libero.it".split(" ");
const disposable = "mailinator.com yopmail.com guerrillamail.com trashmail.com temp-mail.org eu1.mailinator.com".split(
  " ",
);
const countries = "US GB DE FR ES NO IT IE AU CA".split(" ");
const sources = ["signup form", "checkout", "trade fair", "import 2024", "referral"];
const remarks = [
  "wants the catalogue, spring and autumn",
  'calls it "the magazine"',
  "asked for\nless mail",
  "VIP; invite",
];

/** Linear congruential generator (constants of Numerical Recipes), for the same rows on every machine. */
function generator(seed: number): (below: number) => number {
  let state = seed >>> 0;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

/** Returns the 1,000 subscribers. */
export function makeNewsletter(): readonly Subscriber[] {
  const random = generator(20_261_121);
  const pick = <T>(list: readonly T[]): T => list[random(list.length)]!;
  const plain = (text: string) =>
    text
      .normalize("NFD")
      .replaceAll(/[^A-Za-z]/g, "")
      .toLowerCase();
  const seen: Subscriber[] = [];

  return Array.from({ length: 1000 }, (_, index) => {
    const first = pick(firstNames);
    const last = pick(lastNames);
    const local = `${plain(first)}.${plain(last)}${random(3) === 0 ? random(90) + 10 : ""}`;
    const [email, status] = address(local, random(100));
    const day = new Date(Date.UTC(2022, 0, 1 + random(1700))).toISOString().slice(0, 10);
    const note = pick(["", "", "", ...remarks]);
    const number = String(10_001 + index);
    const fields = [number, first, last, email, pick(countries), pick(sources), day, String(random(60)), note];
    seen.push({ fields, status });
    return { fields, status };
  });

  function address(local: string, percent: number): readonly [string, string] {
    if (percent < 50) return [`${local}@${pick(companies)}`, "ok"];
    if (percent < 74) return [`${local}@${pick(freeMail)}`, "ok"];
    if (percent < 80) return [`${local}@${pick(disposable)}`, "disposable"];
    if (percent < 84) return [`${local}+${pick(["news", "shop", "2024"])}@${pick(companies)}`, "alias"];
    if (percent < 86)
      return [`${local.replaceAll(".", "-")}@${pick(["duck.com", "mozmail.com", "ann.anonaddy.com"])}`, "alias"];
    if (percent < 89)
      return [`${local}@${pick(["gmial.com", "gmai.com", "hotmial.com", "yaho.com", "outlok.com"])}`, "fake"];
    if (percent < 91)
      return [`${local}@${pick(["example.com", "nowhere.invalid", "company.local", "firm.con"])}`, "fake"];
    if (percent < 93)
      return [
        pick([`${local}@`, `${local}`, `${local}@@gmail.com`, `${local} @gmail.com`, `${local}..x@gmail.com`]),
        "fake",
      ];
    if (percent < 94)
      return [
        `${pick(["test", "asdf", "qwerty", "none"])}@${pick(["hotmail.co.uk", "gmx.de", "outlook.com"])}`,
        "fake",
      ];
    if (percent < 95) return [`${pick(["ab", "me_too_many"])}@gmail.com`, "fake"];
    if (percent < 96) return ["", ""];
    if (percent < 97) return [`${local.toUpperCase()}@${pick(companies).toUpperCase()}`, "ok"];
    if (percent < 98) return [`  ${local}@${pick(companies)} `, "ok"];
    const before = seen.length > 0 ? pick(seen) : undefined;
    return before ? [before.fields[3]!, before.status] : [`${local}@gmail.com`, "ok"];
  }
}
