/** Programs with a wrong clock beside servers with a right one. */
import { setTimeout as delay } from 'node:timers/promises';
import { freePort } from '../../run/free-port.ts';
import { Replica } from './replica.ts';
import { shiftedClock } from './shifted-clock.ts';
import type { Fault, Site } from './site.ts';

const RETENTION = { PHM_RETENTION_DAYS: '30' };

/** A server prunes one minute after startup. */
const PRUNED_MS = 75_000;

/** Starts one more server, without requests, and stops it after the time of its first prune. */
async function startBeside(site: Site, days: number): Promise<string> {
  const { checkout, folder } = site.options;
  const events: string[] = [];
  const replica = new Replica({
    name: 'wrong clock',
    checkout,
    dataDir: `${folder}/data-wrong-clock`,
    port: await freePort(),
    env: () => ({ ...site.environment(0), ...RETENTION, ...shiftedClock(days) }),
    logFile: `${folder}/server-wrong-clock.log`,
    onEvent: (event) => events.push(event),
  });
  const began = Date.now();
  void replica.start();
  while (events.length === 0 && Date.now() - began < PRUNED_MS) await delay(100);
  await replica.stop('SIGKILL');
  return events.length > 0 ? 'refused to start' : 'started and served';
}

export const CLOCK_FAULTS: readonly Fault[] = [
  {
    name: 'clock: prune of 30 days by a command 400 days ahead',
    run: async (site) => {
      const args = ['ledger', 'prune', '--older-than', '30'];
      const { code } = await site.phm(args, shiftedClock(400));
      return code === 0 ? 'pruned' : `ended with ${code}`;
    },
  },
  {
    name: 'clock: a server 400 days ahead with a retention of 30',
    isLong: true,
    run: (site) => startBeside(site, 400),
  },
  {
    name: 'clock: a server a day behind',
    isLong: true,
    run: (site) => startBeside(site, -1),
  },
];
