// Typos of large mail providers, made by rules: what people leave out, swap, double or hit beside. For accuracy.mjs.
import { keyboardRows } from "../../dist/core/classifier/rules/mailbox/placeholder.js";

/** Providers of many people, in several countries. */
export const largeProviders = `
  gmail.com yahoo.com hotmail.com outlook.com icloud.com aol.com live.com msn.com comcast.net googlemail.com me.com
  gmx.de web.de gmx.net t-online.de freenet.de yahoo.co.uk hotmail.co.uk live.co.uk btinternet.com orange.fr wanadoo.fr
  free.fr laposte.net sfr.fr yahoo.fr hotmail.fr libero.it virgilio.it mail.ru yandex.ru bk.ru list.ru inbox.ru
  rambler.ru uol.com.br bol.com.br terra.com.br ig.com.br yahoo.com.br 163.com qq.com 126.com naver.com hanmail.net
  att.net verizon.net sbcglobal.net bellsouth.net cox.net charter.net rocketmail.com ymail.com protonmail.com proton.me
  yahoo.de yahoo.ca yahoo.co.in hotmail.de hotmail.it`
  .trim()
  .split(/\s+/);

/** Letters that are beside each other in a row of the keyboard. */
const beside = new Map(
  keyboardRows.flatMap((row) => [...row].map((letter, at) => [letter, `${row[at - 1] ?? ""}${row[at + 1] ?? ""}`])),
);

/** Yields the domains that are one error away, in the label before the ending. */
function* errorsIn(domain) {
  const end = domain.indexOf(".");
  for (let at = 0; at < end; at++) {
    const [before, letter, after] = [domain.slice(0, at), domain[at], domain.slice(at + 1)];
    yield before + after;
    yield before + letter + letter + after;
    if (at + 1 < end) yield before + after[0] + letter + after.slice(1);
    for (const other of beside.get(letter) ?? "") yield before + other + after;
  }
}

/**
 * Returns pairs of a typo and the domain that was meant.
 *
 * @param providers domains
 * @param exists returns whether a domain is known: then it is no typo
 */
export function madeTypos(providers, exists) {
  const pairs = new Map();
  for (const domain of providers) {
    for (const typo of errorsIn(domain)) {
      const isName = /^[a-z0-9](?:[a-z0-9-]*[a-z0-9])?\./.test(typo);
      if (isName && typo !== domain && !exists(typo)) pairs.set(typo, domain);
    }
  }
  return [...pairs];
}
