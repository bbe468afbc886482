/** Where the ledger is: by the configuration, and in words. */
import { join } from 'node:path';
import type { Config } from '../config/index.ts';

/** Where the ledger is kept. */
export type StoreLocation =
  | { readonly kind: 'sqlite'; readonly path: string }
  /** The address may hold a password: it goes into no message. */
  | {
      readonly kind: 'postgres';
      readonly url: string;
      /** How far a clock may be from the database's; left out: 60 s. */
      readonly maxClockSkewMs?: number;
    };

/** The place that the configuration names: PostgreSQL, or the embedded database in the data directory. */
export function storeLocation(config: Config): StoreLocation {
  const { databaseUrl, dataDir, maxClockSkewSeconds } = config;
  return databaseUrl === null
    ? { kind: 'sqlite', path: join(dataDir, 'phm.db') }
    : { kind: 'postgres', url: databaseUrl, maxClockSkewMs: maxClockSkewSeconds * 1000 };
}

/** The place for people, without the user and the password of its address. */
export function describeStore(location: StoreLocation): string {
  if (location.kind === 'sqlite') return location.path;
  const { hostname, port, pathname } = new URL(location.url);
  return `PostgreSQL, database ${pathname.slice(1)} on ${hostname}:${port || '5432'}`;
}
