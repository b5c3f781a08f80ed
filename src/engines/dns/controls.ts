/** DNS queries with known answers, which captive portals and filters get wrong: they would make real addresses fake. */
import type { DnsClient } from "./dns-client.js";
import { findMail } from "./mail-domains.js";
import type { UndecidedCause } from "./vocabulary.js";

/** Three operators that have received mail for decades, asked in turn until one receives mail or is undecided. */
const existing = ["gmail.com", "outlook.com", "iana.org"] as const;

/** A name that cannot exist: no label with an underscore can be registered (RFC 1123 section 2.1). */
const missing = "_no-such-name.com";

export type ControlResult =
  | { readonly kind: "right" }
  | { readonly kind: "wrong"; readonly text: string }
  | { readonly kind: "undecided"; readonly cause: UndecidedCause };

export async function askControls(client: Pick<DnsClient, "ask">): Promise<ControlResult> {
  const [present, absent] = await Promise.all([askExisting(client), findMail(missing, client)]);
  if (present.kind === "wrong") return present;
  if (absent.kind === "mail") return { kind: "wrong", text: `says that ${missing} exists, which cannot be` };
  return absent.kind === "undecided" ? absent : present;
}

async function askExisting(client: Pick<DnsClient, "ask">): Promise<ControlResult> {
  for (const domain of existing) {
    const finding = await findMail(domain, client);
    if (finding.kind === "undecided") return finding;
    if (finding.kind === "mail") return { kind: "right" };
  }
  return { kind: "wrong", text: `says that ${existing.join(", ")} receive no mail` };
}
