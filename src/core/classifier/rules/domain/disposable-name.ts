// The rule for names like those of temporary mail. Measured: of 15,195 popular domains and 1,183 of mail providers, it
// flags only temp-mail.io and temp-mail.org.
import type { DomainRule } from "../rule.js";
import { registrableIn } from "./public-suffix.js";

const temporary =
  /(?:te?mp|trash|disposable|throwaway|fake|burner|(?:[1-6]0|15)-?minutes?)-?(?:e-?)?(?:mail|inbox)|^tmails?$|mailinator|yopmail|wegwerf|jetable/;
const cheapMail =
  /(?:mail|inbox).*\.(?:xyz|top|shop|site|online|click|cfd|sbs|icu|fun|space|store|website|club|pw|cyou|buzz|rest|bond|monster|lol|pics|cf|ga|gq|ml|tk)$/;
/** What works against temporary mail is no temporary mail. */
const against = /verif|block|detect|check|filter|anti|stop|valid/;

export const disposableName = {
  code: "disposable-name",
  status: "disposable",
  words: "called like temporary mail",
  plainly: "temporary mail, by its name",
  source: "words in the names of such services",
  forPerson: "The domain of this address is called like a service for temporary addresses.",
  example: "`disposable-name: temp-mail-24.com`",
  find(ascii) {
    // Most names have none of the letters; the kernel asks about the same ones.
    if (!mailWord.test(ascii)) return undefined;
    const domain = registrableIn(ascii);
    const [label = "", ...suffix] = domain.split(".");
    const isFound = temporary.test(label) || (suffix.length === 1 && cheapMail.test(domain));
    return isFound && !against.test(label) ? { subject: domain } : undefined;
  },
} as const satisfies DomainRule;

const mailWord = /mail|nbox|wegw|jeta/;
