/** Types of postgres-server.mjs, which programs without a build use too. */
export declare const isPackaged: boolean;
export interface PostgresProcess {
  /** URL of its first database. */
  readonly url: string;
  readonly kill: () => Promise<void>;
  readonly restart: () => Promise<void>;
}
export declare function startPostgresServer(folder: string): Promise<PostgresProcess>;
