/** Checks limits of this process, which a server started from the same shell or container shares. */
import { totalmem } from 'node:os';
import type { Config } from '../../config/index.ts';
import { connectionsWithin, openFilesLimit, REFUSED_CONNECTIONS } from '../../files/open-files.ts';
import { type Finding, ok, warning } from './finding.ts';
import type { Site } from './site.ts';

const MIB = 2 ** 20;

/** Sizes of deploy/README.md: 896 MiB for two workers, 1 GiB for three, 0.1 MiB for a further connection. */
const BASE_MIB = 640;
const WORKER_MIB = 128;
const CONNECTION_MIB = 0.1;
const USUAL_CONNECTIONS = 2_000;

export function checkLimits({ config }: Site): Finding[] {
  const found = [...checkOpenFiles(config), ...checkMemory(config)];
  if (found.length > 0) return found;
  const files = openFilesLimit() ?? 'unlimited or unknown';
  return [ok(`open files: ${files}; memory: ${memoryLimitMib()} MiB`)];
}

/** Throws `SetupError` if no connection is left. */
function checkOpenFiles({ maxConnections }: Config): Finding[] {
  const limit = openFilesLimit();
  const max = connectionsWithin(limit, maxConnections, REFUSED_CONNECTIONS);
  if (max === maxConnections) return [];
  return [
    warning(
      `the limit of ${limit} open files allows ${max} of the ${maxConnections} connections of PHM_MAX_CONNECTIONS`,
      `raise it by ${maxConnections - max}: LimitNOFILE of systemd, ulimits.nofile of Compose`,
    ),
  ];
}

function checkMemory({ suiteWorkers, maxConnections }: Config): Finding[] {
  const further = Math.max(0, maxConnections - USUAL_CONNECTIONS) * CONNECTION_MIB;
  const needed = Math.round(BASE_MIB + suiteWorkers * WORKER_MIB + further);
  const limit = memoryLimitMib();
  if (limit >= needed) return [];
  return [
    warning(
      `${limit} MiB of memory for ${suiteWorkers} workers and ${maxConnections} connections, which may need ${needed}`,
      'raise the limit of memory, or lower PHM_WORKERS or PHM_MAX_CONNECTIONS',
    ),
  ];
}

/** Returns the limit of the control group, or the memory of the machine. */
function memoryLimitMib(): number {
  const limit = process.constrainedMemory();
  return Math.round((limit > 0 ? Math.min(limit, totalmem()) : totalmem()) / MIB);
}
