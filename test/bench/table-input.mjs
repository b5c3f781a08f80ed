// Generates the input of bench:table, the same in every run.
import { once } from "node:events";
import { createWriteStream } from "node:fs";
import { readDisposableList } from "./disposable-list.mjs";

const firstNames = "Anna Ben Clara David Emma Felix Grace Hugo Ines Jonas Karin Liam Mona Nils Olga Paul".split(" ");
const lastNames = "Adler Brown Costa Dubois Eriksen Fischer Garcia Hansen Ivanova Jansen Keller Lopez".split(" ");
const freeMail = "gmail.com yahoo.com hotmail.com outlook.com icloud.com gmx.de web.de orange.fr mail.ru qq.com".split(
  " ",
);
const countries = "US GB DE FR ES NO IT IE AU CA".split(" ");

/**
 * Writes a CSV table with rows of about 72 bytes: id, name, e-mail, date, country and a note, which has quoted commas in a
 * tenth of the rows. 10 % of the addresses are disposable, 5 % have a tag, half are at ten free-mail providers and the
 * others at 50,000 companies. No address comes twice.
 *
 * @param {string} path
 * @param {number} rows
 */
export async function writeTableInput(path, rows) {
  const disposable = readDisposableList();
  let state = 20_261_121;
  const random = (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
  const file = createWriteStream(path, { highWaterMark: 1 << 20 });
  let text = "id,name,email,date,country,note\n";
  for (let id = 1; id <= rows; id++) {
    const first = firstNames[random(firstNames.length)];
    const last = lastNames[random(lastNames.length)];
    const share = random(100);
    const domain =
      share < 10
        ? disposable[random(disposable.length)]
        : share < 60
          ? freeMail[random(freeMail.length)]
          : `company-${random(50_000)}.com`;
    const tag = share >= 95 ? "+news" : "";
    const day = 10 + random(19);
    const note = random(10) === 0 ? '"calls back, mornings"' : "customer";
    text += `${id},${first} ${last},${first.toLowerCase()}.${last.toLowerCase()}${id}${tag}@${domain},2026-0${1 + random(9)}-${day},${countries[random(10)]},${note}\n`;
    if (text.length > 1 << 20) {
      if (!file.write(text)) await once(file, "drain");
      text = "";
    }
  }
  file.end(text);
  await once(file, "finish");
}
