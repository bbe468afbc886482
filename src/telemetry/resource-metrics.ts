/** Metrics of what a server uses up: its certificate, its disks, the database. */
import { type Clock, SECOND_MS } from '../clock.ts';
import { type DiskSpace, diskSpace } from '../files/disk-space.ts';
import type { Definition, Sample } from './definition.ts';
import { Reading } from './reading.ts';

/** Time between two readings. A disk answers from memory; PostgreSQL asks the size of each file of the database. */
const DISK_INTERVAL_MS = 10 * SECOND_MS;
const DATABASE_INTERVAL_MS = 60 * SECOND_MS;

export interface Resources {
  readonly clock: Clock;
  /** End of the loaded certificate, in milliseconds since 1970; null without TLS. */
  readonly certificateEndMs: number | null;
  /** Folders with data of the server. */
  readonly folders: readonly Folder[];
  /** Resolves with the size of the database in bytes; null if it is unknown. */
  readonly databaseBytes: () => Promise<number | null>;
}

/** `data` holds the SQLite database, `log_state` the state file of the transparency log. */
interface Folder {
  readonly dir: 'data' | 'log_state';
  readonly path: string;
}

export function resourceMetrics(resources: Resources): Definition[] {
  const { clock, certificateEndMs, folders } = resources;
  const databaseBytes = new Reading(resources.databaseBytes, DATABASE_INTERVAL_MS);
  const spaceOf = readSpaces(folders);
  return [
    {
      type: 'gauge',
      name: 'phm_tls_certificate_expiry_timestamp_seconds',
      help: 'When the loaded certificate, or the first one of its chain, expires: Unix time. Absent without TLS',
      meaning:
        'When the loaded certificate expires, or the first one of its chain. The service reads the file at startup only. Absent without TLS',
      read: () => (certificateEndMs === null ? [] : [[{}, certificateEndMs / SECOND_MS]]),
    },
    {
      type: 'gauge',
      name: 'phm_clock_timestamp_seconds',
      help: "This machine's clock when the page was made: Unix time",
      meaning: "The server's clock, for comparison with Prometheus'",
      read: () => [[{}, clock.nowMs() / SECOND_MS]],
    },
    {
      type: 'gauge',
      name: 'phm_database_size_bytes',
      help: 'Size of the database: with SQLite of its files, with PostgreSQL of the whole database. Absent if unknown',
      meaning:
        'SQLite: the file and its write-ahead log. PostgreSQL: the whole database, asked once a minute. Absent if unknown',
      read: async () => {
        const bytes = await databaseBytes.value();
        return bytes === null ? [] : [[{}, bytes]];
      },
    },
    {
      type: 'gauge',
      name: 'phm_disk_free_bytes',
      help: 'Space that the service may still use on the disk of a folder. Absent if unknown',
      meaning:
        "Space that the service may still use. `data`: folder of the SQLite database; `log_state`: of the log's state file. Absent if unknown",
      labelNames: ['dir'],
      read: () => spaceOf(({ freeBytes }) => freeBytes),
    },
    {
      type: 'gauge',
      name: 'phm_disk_size_bytes',
      help: 'Size of the disk of a folder. Absent if unknown',
      labelNames: ['dir'],
      read: () => spaceOf(({ sizeBytes }) => sizeBytes),
    },
  ];
}

/** Returns a function that reads one member of the space of each folder. */
function readSpaces(
  folders: readonly Folder[],
): (valueIn: (space: DiskSpace) => number) => Promise<readonly Sample[]> {
  const readings = folders.map(({ dir, path }) => ({
    dir,
    reading: new Reading(() => diskSpace(path), DISK_INTERVAL_MS),
  }));
  return async (valueIn) => {
    const samples = readings.map(async ({ dir, reading }): Promise<Sample[]> => {
      const space = await reading.value();
      return space ? [[{ dir }, valueIn(space)]] : [];
    });
    return (await Promise.all(samples)).flat();
  };
}
