/** The location of the ledger, from the configuration and for messages. */
import { join } from 'node:path';
import type { Config } from '../config/index.ts';
import { describeHosts, parsePostgresAddress } from '../config/postgres-address.ts';
import { WriteGate } from './sqlite/write-gate.ts';

/** Where the ledger is stored. */
export type StoreLocation =
  | {
      readonly kind: 'sqlite';
      readonly path: string;
      /** Memory that the writing threads of a server share: `shareWrites`. */
      readonly gate?: SharedArrayBuffer;
    }
  /** The address may hold a password: no message contains it. */
  | {
      readonly kind: 'postgres';
      readonly url: string;
      /** Limit of the skew between a server's clock and the database's, 60 s by default. */
      readonly maxClockSkewMs?: number;
    };

/**
 * Returns the location that the configuration names: PostgreSQL, or the embedded database in the data
 * directory.
 */
export function storeLocation(config: Config): StoreLocation {
  const { databaseUrl, dataDir, maxClockSkewSeconds } = config;
  return databaseUrl === null
    ? { kind: 'sqlite', path: join(dataDir, 'phm.db') }
    : { kind: 'postgres', url: databaseUrl, maxClockSkewMs: maxClockSkewSeconds * 1000 };
}

/** Returns the location for the threads of one server, which then take the write lock in turns. */
export function shareWrites(location: StoreLocation): StoreLocation {
  return location.kind === 'sqlite' ? { ...location, gate: WriteGate.allocate() } : location;
}

/** Describes the location in messages, without user and password. */
export function describeStore(location: StoreLocation): string {
  if (location.kind === 'sqlite') return location.path;
  const { database, hosts } = parsePostgresAddress(location.url);
  return `PostgreSQL, database ${database} on ${describeHosts(hosts)}`;
}
