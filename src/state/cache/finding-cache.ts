/** DNS findings, under hashes keyed with the cache's secret. Must not store domains or hosts, which often name them. */
import { createCipheriv, createDecipheriv, hash, randomBytes } from "node:crypto";
import type { ScopeFile } from "./cache-scope.js";
import { digestBytes } from "./digests.js";

interface StoredFinding {
  readonly kind: string;
  readonly suffix?: string;
  readonly exchange?: string;
}

const answerMilliseconds = 86_400_000;
/** A missing domain or mail server may soon be corrected. */
const negativeMilliseconds = 3_600_000;
const negatives = ["no-such-domain", "no-mail-server", "sends-no-mail"];

const cipher = "aes-128-ctr";
const ivBytes = 16;

export class FindingCache {
  readonly #file: ScopeFile;
  readonly #prefix: string;

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
        if (age < 0 || age > (negatives.includes(kind) ? negativeMilliseconds : answerMilliseconds)) return undefined;
        if (suffix === undefined) return { kind };
        return kind === "mail" ? { kind, exchange: this.#decrypted(domain, suffix) } : { kind, suffix };
      }),
    );
  }

  async store(findings: ReadonlyMap<string, StoredFinding>): Promise<void> {
    const { database, now } = this.#file;
    const put = database.prepare("INSERT OR REPLACE INTO mail_domain (digest, finding, created) VALUES (?, ?, ?)");
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
