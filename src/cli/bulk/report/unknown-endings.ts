/** Counts rows that are fake for their top-level domain alone where the list of these is old: the domain may be newer. */
import type { Classifier } from "../../../core/classifier/classifier.js";
import { unknownTld } from "../../../core/classifier/rules/domain/unknown-tld.js";
import type { ObservedRows, RowObserver } from "../../../core/run/run-options.js";
import type { Kind } from "../../../core/validator/validator.js";
import { counted, printable } from "../../../text.js";

/** In milliseconds: half a year. */
const oldAge = 183 * 86_400_000;
const namedEndings = 3;
const mostEndings = 1000;

export class UnknownEndings implements RowObserver {
  readonly #kind: Kind;
  readonly #classifier: Pick<Classifier, "classify">;
  readonly #published: string;
  readonly #counts = new Map<string, number>();
  #rows = 0;

  private constructor(kind: Kind, classifier: Pick<Classifier, "classify">, published: string) {
    this.#kind = kind;
    this.#classifier = classifier;
    this.#published = published;
  }

  static of(kind: Kind, classifier: Classifier | undefined, now: number): UnknownEndings | undefined {
    const published = classifier?.suffixes?.published ?? "";
    const isOld = now - Date.parse(published) > oldAge;
    return classifier && isOld ? new UnknownEndings(kind, classifier, published) : undefined;
  }

  observe({ codes, reasons, locate }: ObservedRows): void {
    const isUnknown = reasons.map((reason) => reason === unknownTld.code);
    for (const [row, code] of codes.entries()) {
      if (!isUnknown[code]) continue;
      const { reason = "", suggestion } = this.#classifier.classify(this.#kind, locate(row).item ?? "");
      const [rule, ending] = reason.split(": ");
      // A suggestion means that it is a typing error.
      if (rule !== unknownTld.code || ending === undefined || suggestion !== undefined) continue;
      this.#rows++;
      if (this.#counts.has(ending) || this.#counts.size < mostEndings) {
        this.#counts.set(ending, (this.#counts.get(ending) ?? 0) + 1);
      }
    }
  }

  remark(): string | undefined {
    if (this.#rows === 0) return undefined;
    const endings = [...this.#counts].sort((a, b) => b[1] - a[1]);
    const named = endings.slice(0, namedEndings).map(([ending, rows]) => `.${printable(ending)} ${rows}`);
    const more = endings.length > namedEndings ? " ..." : "";
    const rows = counted(this.#rows, "row is", "rows are");
    return `${rows} fake only because their endings are not in the list of ${this.#published} (${named.join(", ")}${more}); for a newer one, run: idv data update`;
  }
}
