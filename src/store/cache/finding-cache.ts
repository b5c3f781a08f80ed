/**
 * What DNS said about domains, in the file of the verdict cache, under hashes keyed with the cache's secret. Must not store
 * domains or their MX hosts, which often name the domain. The one name stored is the listed suffix of a disposable MX host.
 */
import { hash } from "node:crypto";
import { digestBytes, type ScopeFile } from "./cache-scope.js";

/** A finding as text: its kind, followed by the listed suffix for `disposable-mx`. */
interface StoredFinding {
  readonly kind: string;
  readonly suffix?: string;
}

/** How long an answer is used, in milliseconds. */
const answerMilliseconds = 86_400_000;
/** The same for the answer that a domain does not exist, or has no mail server: that may soon be mended. */
const negativeMilliseconds = 3_600_000;
const negatives = ["no-such-domain", "no-mail-server"];

/** The DNS findings in an open cache file. */
export class FindingCache {
  readonly #file: ScopeFile;
  readonly #prefix: string;

  /**
   * @param secret key of the hashes
   * @param servers the servers that are asked, since others may answer differently
   */
  constructor(file: ScopeFile, secret: string, servers: readonly string[]) {
    this.#file = file;
    this.#prefix = `${secret}\ndns\n${servers.join(",")}\n`;
  }

  /** Returns the findings on some domains that are not too old; undefined for the others. */
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
        return suffix === undefined ? { kind } : { kind, suffix };
      }),
    );
  }

  /** Keeps findings. They survive a crash of the process, though perhaps not a power failure. */
  async store(findings: ReadonlyMap<string, StoredFinding>): Promise<void> {
    const { database, now } = this.#file;
    const put = database.prepare(
      "INSERT OR REPLACE INTO mail_domain (digest, finding, created) VALUES (?, ?, ?)",
    );
    await this.#file.fastWrite(() => {
      for (const [domain, { kind, suffix }] of findings) {
        put.run(this.#digest(domain), suffix === undefined ? kind : `${kind} ${suffix}`, now());
      }
    });
  }

  #digest(domain: string): Uint8Array {
    return hash("sha256", `${this.#prefix}${domain}`, "buffer").subarray(0, digestBytes);
  }
}
