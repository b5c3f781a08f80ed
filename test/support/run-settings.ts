/** What a run of the program takes and gives, as a process or in this one. */
export interface Outcome {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface RunSettings {
  /** HOME and the working folder; a new folder by default. */
  readonly home?: string;
  readonly stdin?: string | Uint8Array;
  readonly env?: Readonly<Record<string, string>>;
  /** User to run as; needs tests that run as root. */
  readonly uid?: number;
}
