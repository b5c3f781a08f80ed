/** See mutations.mjs. */
export const mutations: readonly {
  readonly promise: string;
  /** Path below the root. */
  readonly file: string;
  readonly from: string;
  readonly to: string;
  readonly tests: readonly string[];
}[];
