/** The reasons that DNS gives for items that pass all rules. src/dns decides. */
import type { ReasonRecord } from "./rule.js";

export const dnsReasons = [
  {
    code: "no-such-domain",
    status: "fake",
    words: "no such domain",
    example: "`no-such-domain: larch-and-oak.com`, with `--dns`",
  },
  {
    code: "null-mx",
    status: "fake",
    words: "domain refuses mail",
    example: "`null-mx: larch-and-oak.com`: the domain declares that it receives no mail (RFC 7505)",
  },
  {
    code: "no-mail-server",
    status: "fake",
    words: "no mail server",
    example: "`no-mail-server: larch-and-oak.com`: no usable MX record and no address that can be reached",
  },
  {
    code: "sends-no-mail",
    status: "fake",
    words: "domain without mail",
    example:
      "`sends-no-mail: larch-and-oak.com`: no MX record, and SPF says that no mail comes from it (`v=spf1 -all`)",
  },
  {
    code: "disposable-mx",
    status: "disposable",
    words: "mail server of a disposable service",
    example: "`disposable-mx: dropmail.me`: its mail goes to that service",
  },
] as const satisfies readonly ReasonRecord[];
