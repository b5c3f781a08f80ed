/** The words of the page in one language. Counts come as text, grouped as the language groups digits. */
export interface Words {
  /** Name of the language in itself. */
  readonly name: string;
  readonly title: string;
  /** Where the list goes. */
  readonly promise: string;
  readonly promiseDetails: string;
  readonly language: string;
  readonly drop: string;
  readonly formats: string;
  readonly choose: string;
  readonly paste: string;
  readonly pasteHint: string;
  readonly check: string;
  readonly kind: string;
  readonly kinds: { readonly email: string; readonly domain: string };
  readonly opening: string;
  readonly rowsSoFar: (count: string) => string;
  readonly progress: string;
  readonly cancel: string;
  readonly cancelled: string;
  readonly another: string;
  readonly column: string;
  readonly foundIn: (column: string) => string;
  /** First sentence of the summary. */
  readonly good: (good: string, all: string) => string;
  readonly noItems: string;
  readonly details: (rows: string, distinct: string, seconds: string) => string;
  readonly badLines: (count: string) => string;
  readonly statusHeading: string;
  readonly status: string;
  readonly rows: string;
  readonly share: string;
  readonly advice: string;
  /** Statuses by their codes, each with what to do. */
  readonly statuses: Readonly<Record<StatusCode, readonly [name: string, advice: string]>>;
  readonly reason: string;
  readonly reasonHeading: string;
  readonly disposableHeading: string;
  readonly providerHeading: string;
  readonly monthHeading: (column: string) => string;
  readonly month: string;
  readonly domain: string;
  readonly bad: string;
  /** Reasons by their codes. */
  readonly reasons: Readonly<Record<ReasonCode, string>>;
  readonly rowsHeading: string;
  readonly rowsShown: (shown: string, all: string) => string;
  readonly noRows: string;
  readonly line: string;
  readonly item: string;
  readonly suggestion: string;
  readonly allRows: string;
  readonly onlySuggestions: string;
  readonly filter: string;
  readonly accept: string;
  readonly acceptAll: (count: string) => string;
  readonly acceptNone: string;
  readonly accepted: (count: string) => string;
  readonly more: string;
  readonly saveHeading: string;
  readonly saveAll: string;
  readonly saveGood: string;
  readonly saveReasons: string;
  readonly save: string;
  readonly saving: string;
  readonly saved: (name: string) => string;
  readonly report: string;
  readonly faults: Readonly<Record<FaultCode, string>>;
  readonly chooseColumn: string;
}

export type StatusCode = "ok" | "alias" | "disposable" | "fake" | "empty";
export type ReasonCode =
  | "syntax"
  | "disposable-domain"
  | "typo-domain"
  | "unknown-tld"
  | "public-suffix"
  | "special-use"
  | "placeholder"
  | "impossible-mailbox"
  | "no-reply"
  | "sub-address"
  | "relay";
export type FaultCode =
  | "gone"
  | "damaged"
  | "workbook"
  | "table"
  | "column"
  | "row"
  | "empty"
  | "memory"
  | "unknown";
