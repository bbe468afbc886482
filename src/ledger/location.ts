/** The location of the ledger, from the configuration and for messages. */
import { join } from 'node:path';
import type { Config } from '../config/index.ts';
import { describeHost, describeHosts, parsePostgresAddress } from '../config/postgres-address.ts';
import type { LedgerIdentity } from './identity.ts';
import { SeenTimeline, type TimelineMemory } from './postgres/seen-timeline.ts';
import { WriteGate } from './sqlite/write-gate.ts';

/** Where the ledger is stored. */
export type StoreLocation = {
  /** The ledger that the process works with; any if it is missing. */
  readonly ledger?: LedgerIdentity;
} & (
  | {
      readonly kind: 'sqlite';
      readonly path: string;
      /** Memory that the writing threads of a server share: `shareAmongThreads`. */
      readonly gate?: SharedArrayBuffer;
    }
  /** The address may hold a password: no message contains it. */
  | ({
      readonly kind: 'postgres';
      readonly url: string;
      /** Limit of the skew between a server's clock and the database's, 60 s by default. */
      readonly maxClockSkewMs?: number;
    } & TimelineMemory)
);

/**
 * Returns the location that the configuration names: PostgreSQL, or the embedded database in the data
 * directory.
 */
export function storeLocation(config: Config): StoreLocation {
  const { databaseUrl, dataDir, maxClockSkewSeconds, log } = config;
  if (databaseUrl === null) return { kind: 'sqlite', path: join(dataDir, 'phm.db') };
  return {
    kind: 'postgres',
    url: databaseUrl,
    maxClockSkewMs: maxClockSkewSeconds * 1000,
    timelineFile: `${log.stateFile}.timeline`,
  };
}

/**
 * Returns the location for a server, which keeps the newest timeline that it sees. A command only reads it. `ledger` is what
 * the start has found there: no thread works with another one.
 */
export function serverLocation(config: Config, ledger?: LedgerIdentity): StoreLocation {
  const location = { ...storeLocation(config), ...(ledger && { ledger }) };
  return location.kind === 'sqlite' ? location : { ...location, keepsTimeline: true };
}

/**
 * Returns the location for the threads of one server: with SQLite they take the write lock in turns, with PostgreSQL one of
 * them watches the hosts for all.
 */
export function shareAmongThreads(location: StoreLocation): StoreLocation {
  return location.kind === 'sqlite'
    ? { ...location, gate: WriteGate.allocate() }
    : { ...location, timelines: SeenTimeline.allocate() };
}

/** Describes the location in messages, without user and password. */
export function describeStore(location: StoreLocation): string {
  if (location.kind === 'sqlite') return location.path;
  const { database, hosts } = parsePostgresAddress(location.url);
  return `PostgreSQL, database ${database} on ${describeHosts(hosts)}`;
}

/** Returns the hosts of PostgreSQL in the location, as `LedgerStore.host` names them. */
export function databaseHosts(location: StoreLocation): readonly string[] {
  if (location.kind === 'sqlite') return [];
  return parsePostgresAddress(location.url).hosts.map(describeHost);
}
