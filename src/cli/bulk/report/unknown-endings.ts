/** Counts rows that are fake for their top-level domain alone where the list of these is old: the domain may be newer. */
import type { Classifier } from "../../../core/classifier/classifier.js";
import { unknownTld } from "../../../core/classifier/rules/domain/unknown-tld.js";
import type { ObservedRows } from "../../../core/run/run-options.js";
import type { Kind } from "../../../core/validator/validator.js";
import { counted, printable } from "../../../text.js";

/** In milliseconds: half a year. */
const oldAge = 183 * 86_400_000;
const namedEndings = 3;
const mostEndings = 1000;

/** Returns undefined if there is no list, or it is not old. */
export function unknownEndings(kind: Kind, classifier: Classifier | undefined, now: number) {
  const published = classifier?.suffixes?.published ?? "";
  const isOld = now - Date.parse(published) > oldAge;
  if (classifier === undefined || !isOld) return undefined;
  const counts = new Map<string, number>();
  let rows = 0;
  return {
    observe({ codes, reasons, item }: ObservedRows) {
      const isUnknown = reasons.map((reason) => reason === unknownTld.code);
      for (const [row, code] of codes.entries()) {
        if (!isUnknown[code]) continue;
        const { reason = "", suggestion } = classifier.classify(kind, item(row) ?? "");
        const [rule, ending] = reason.split(": ");
        // A suggestion means that it is a typing error.
        if (rule !== unknownTld.code || ending === undefined || suggestion !== undefined) continue;
        rows++;
        if (counts.has(ending) || counts.size < mostEndings) counts.set(ending, (counts.get(ending) ?? 0) + 1);
      }
    },
    remark() {
      if (rows === 0) return undefined;
      const endings = [...counts].sort((a, b) => b[1] - a[1]);
      const named = endings.slice(0, namedEndings).map(([ending, rows]) => `.${printable(ending)} ${rows}`);
      const more = endings.length > namedEndings ? " ..." : "";
      return `${counted(rows, "row is", "rows are")} fake only because their endings are not in the list of ${published} (${named.join(", ")}${more}); for a newer one, run: idv data update`;
    },
  };
}
