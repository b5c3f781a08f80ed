/** Types of postgres-server.mjs, which programs without a build use too. */
export declare const isPackaged: boolean;
export interface PostgresProcess {
  /** URL of its first database. */
  readonly url: string;
  readonly kill: () => Promise<void>;
  /** Folder of its data. */
  readonly data: string;
  readonly stop: () => Promise<void>;
  readonly restart: (...settings: readonly string[]) => Promise<void>;
}
export declare function startPostgresServer(folder: string, prepare?: (data: string) => void): Promise<PostgresProcess>;
