/** Faults of servers and of the proxy, for any store. */
import { setTimeout as delay } from 'node:timers/promises';
import type { Replica } from './replica.ts';
import { type Fault, hold } from './site.ts';

const names = (replicas: readonly Replica[]) =>
  replicas.map(({ options }) => options.name.slice(-1)).join('');

/** Waits until ended processes have been restarted. */
async function back(replicas: readonly Replica[], before: readonly (number | null)[]) {
  const end = Date.now() + 60_000;
  const isBack = (replica: Replica, i: number) =>
    replica.pid !== before[i] && replica.listeningSince !== null;
  while (!replicas.every(isBack) && Date.now() < end) await delay(50);
}

export const SERVER_FAULTS: readonly Fault[] = [
  {
    name: 'servers: kill -9',
    run: async ({ replicas }, dice) => {
      const killed = dice.some(replicas);
      const pids = killed.map(({ pid }) => pid);
      for (const replica of killed) replica.signal('SIGKILL');
      await back(killed, pids);
      return names(killed);
    },
  },
  {
    name: 'server: SIGTERM',
    run: async (site, dice) => {
      const ended = dice.pick(site.replicas);
      const code = await ended.stop('SIGTERM');
      if (code !== 0) site.events.push(`${ended.options.name}: exited with code ${code}`);
      await delay(dice.int(0, 1_500));
      await ended.start();
      return names([ended]);
    },
  },
  {
    name: 'servers: SIGSTOP for a while',
    run: async ({ replicas }, dice) => {
      const stopped = dice.some(replicas);
      for (const replica of stopped) replica.signal('SIGSTOP');
      try {
        return `${names(stopped)} ${await hold(dice, 1_000, 9_000)}`;
      } finally {
        for (const replica of stopped) replica.signal('SIGCONT');
      }
    },
  },
  {
    name: 'server: one thread ends',
    run: async ({ replicas }, dice) => {
      const hurt = dice.pick(replicas);
      const times = dice.int(1, 2);
      for (let i = 0; i < times; i++) {
        hurt.signal('SIGUSR2');
        await delay(300);
      }
      await delay(2_000);
      return `${names([hurt])}, ${times} of its threads`;
    },
  },
  {
    name: 'servers: rolling restart',
    isLong: true,
    run: async (site) => {
      await site.roll();
      return names(site.replicas);
    },
  },
  {
    name: 'master secret: rotation',
    isLong: true,
    run: async (site) => {
      site.secret.versions += 1;
      await site.roll();
      site.secret.current = site.secret.versions;
      await site.roll();
      return `to version ${site.secret.current}`;
    },
  },
  {
    name: 'proxy: kill -9',
    run: async ({ proxy }) => {
      await proxy.kill();
      await proxy.launch();
      return '';
    },
  },
  {
    name: 'command: migrate again',
    run: async (site) => {
      const { code, stderr } = await site.phm(['migrate']);
      if (code !== 0) site.findings.push(`phm migrate exited with code ${code}: ${stderr}`);
      return '';
    },
  },
  {
    name: 'command: prune of rows older than 400 days',
    run: async (site) => {
      const { code, stderr } = await site.phm(['ledger', 'prune', '--older-than', '400']);
      if (code !== 0) site.findings.push(`phm ledger prune exited with code ${code}: ${stderr}`);
      return '';
    },
  },
];
