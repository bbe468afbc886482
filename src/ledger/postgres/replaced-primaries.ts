/** Finds primaries that a promotion replaced and that still accept writes. */
import { describeHost, parsePostgresAddress } from '../../config/postgres-address.ts';
import type { DatabaseFault } from '../inspection.ts';
import { HostProbe } from './host-probe.ts';
import { SeenTimeline } from './seen-timeline.ts';

/** Asks all hosts of an address. Resolves with one fault for each that writes a lower timeline than another. */
export async function findReplacedPrimaries(url: string): Promise<DatabaseFault[]> {
  const address = parsePostgresAddress(url);
  if (address.hosts.length === 1 || address.target === 'any') return [];
  const probes = address.hosts.map((host) => new HostProbe(address, host));
  // Without a memory, which would refuse a lower timeline like a server that cannot be used.
  const seen = new SeenTimeline();
  const states = await Promise.all(probes.map((probe) => probe.look(seen)));
  for (const probe of probes) probe.close();
  const primaries = states.flatMap((state, i) => {
    const host = address.hosts[i];
    return state.kind === 'fits' && host ? [{ host: describeHost(host), ...state }] : [];
  });
  const newest = primaries.reduce((a, b) => (b.timeline > a.timeline ? b : a), primaries[0]);
  return primaries.flatMap(({ host, timeline, cluster }) => {
    if (!newest || cluster !== newest.cluster || timeline >= newest.timeline) return [];
    return [
      {
        isGrave: false,
        problem:
          `${host} accepts writes on timeline ${timeline}, although ${newest.host} replaced it on timeline ` +
          `${newest.timeline}: a server that reaches only ${host} records keys that will be lost`,
        remedy: `fence ${host}: docs/guides/failover.md#two-primaries`,
      },
    ];
  });
}
