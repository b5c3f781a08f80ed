/** The reasons that DNS gives for items that pass all rules. src/engines/dns decides. */
import { checkDomain, type ReasonRecord } from "../rule.js";

export const dnsReasons = [
  {
    code: "no-such-domain",
    status: "fake",
    words: "no such domain",
    source: "DNS: the name does not exist (RFC 1035)",
    forPerson: `The domain of this address does not exist. ${checkDomain}`,
    example: "`no-such-domain: larch-and-oak.com`, with `--dns`",
  },
  {
    code: "null-mx",
    status: "fake",
    words: "domain refuses mail",
    source: "DNS: a null MX record (RFC 7505)",
    forPerson: "The domain of this address receives no mail. Please give another address.",
    example: "`null-mx: larch-and-oak.com`: the domain declares that it receives no mail (RFC 7505)",
  },
  {
    code: "no-mail-server",
    status: "fake",
    words: "no mail server",
    source: "DNS: no MX record or address that can be reached (RFC 5321, section 5.1)",
    forPerson: `The domain of this address receives no mail. ${checkDomain}`,
    example: "`no-mail-server: larch-and-oak.com`: no usable MX record and no address that can be reached",
  },
  {
    code: "sends-no-mail",
    status: "fake",
    words: "domain without mail",
    source: "DNS: SPF (RFC 7208, section 5.1), and no MX record",
    forPerson: `The domain of this address is not used for mail. ${checkDomain}`,
    example:
      "`sends-no-mail: larch-and-oak.com`: no MX record, and SPF says that no mail comes from it (`v=spf1 -all`)",
  },
  {
    code: "disposable-mx",
    status: "disposable",
    words: "mail server of a disposable service",
    source: "exchanges of disposable services",
    forPerson: "Mail to this address goes to a service for temporary addresses. Please give a lasting one.",
    example: "`disposable-mx: dropmail.me`: its mail goes to that service",
  },
] as const satisfies readonly ReasonRecord[];
