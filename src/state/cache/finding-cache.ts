/**
 * DNS findings about domains, in the file of the verdict cache, under hashes keyed with the cache's secret. Must not
 * store domains or their MX hosts, which often name the domain: a host is encrypted with a key made of the secret and the
 * domain. The only name stored is the listed suffix of a disposable MX host.
 */
import { createCipheriv, createDecipheriv, hash, randomBytes } from "node:crypto";
import type { ScopeFile } from "./cache-scope.js";
import { digestBytes } from "./digests.js";

interface StoredFinding {
  readonly kind: string;
  readonly suffix?: string;
  readonly exchange?: string;
}

const answerMilliseconds = 86_400_000;
/**
 * Time for which the finding that a domain does not exist, or has no mail server, is used: it may soon be corrected.
 */
const negativeMilliseconds = 3_600_000;
const negatives = ["no-such-domain", "no-mail-server", "sends-no-mail"];

const cipher = "aes-128-ctr";
const ivBytes = 16;

export class FindingCache {
  readonly #file: ScopeFile;
  readonly #prefix: string;

  /** @param servers the servers that are asked, since others may answer differently */
  constructor(file: ScopeFile, secret: string, servers: readonly string[]) {
    this.#file = file;
    this.#prefix = `${secret}\ndns\n${servers.join(",")}\n`;
  }

  load(domains: readonly string[]): Promise<(StoredFinding | undefined)[]> {
    const { database, now } = this.#file;
    const find = database.prepare("SELECT finding, created FROM mail_domain WHERE digest = ?");
    return this.#file.read(() =>
      domains.map((domain) => {
        const [row] = find.all(this.#digest(domain)) as { finding: string; created: number }[];
        if (row === undefined) return undefined;
        const [kind = "", suffix] = row.finding.split(" ");
        const age = now() - row.created;
        // An entry from the future was written while the clock was ahead.
        if (age < 0 || age > (negatives.includes(kind) ? negativeMilliseconds : answerMilliseconds))
          return undefined;
        if (suffix === undefined) return { kind };
        return kind === "mail" ? { kind, exchange: this.#decrypted(domain, suffix) } : { kind, suffix };
      }),
    );
  }

  async store(findings: ReadonlyMap<string, StoredFinding>): Promise<void> {
    const { database, now } = this.#file;
    const put = database.prepare(
      "INSERT OR REPLACE INTO mail_domain (digest, finding, created) VALUES (?, ?, ?)",
    );
    await this.#file.fastWrite(() => {
      for (const [domain, { kind, suffix, exchange }] of findings) {
        const more = exchange === undefined ? suffix : this.#encrypted(domain, exchange);
        put.run(this.#digest(domain), more === undefined ? kind : `${kind} ${more}`, now());
      }
    });
  }

  #encrypted(domain: string, text: string): string {
    const iv = randomBytes(ivBytes);
    const bytes = createCipheriv(cipher, this.#keyOf(domain), iv).update(text);
    return Buffer.concat([iv, bytes]).toString("base64");
  }

  #decrypted(domain: string, text: string): string {
    const bytes = Buffer.from(text, "base64");
    const decipher = createDecipheriv(cipher, this.#keyOf(domain), bytes.subarray(0, ivBytes));
    return decipher.update(bytes.subarray(ivBytes)).toString();
  }

  #keyOf(domain: string): Uint8Array {
    return hash("sha256", `${this.#prefix}mx\n${domain}`, "buffer").subarray(0, 16);
  }

  #digest(domain: string): Uint8Array {
    return hash("sha256", `${this.#prefix}${domain}`, "buffer").subarray(0, digestBytes);
  }
}
