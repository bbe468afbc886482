/** Metrics of the transparency log. */
import { SECOND_MS } from '../clock.ts';
import type { LogStatus } from '../service/index.ts';
import type { Halt } from '../service/offline.ts';
import { type Definition, one, type Sample } from './definition.ts';

/** What a log can be doing. `delayed`: it runs, but its turns fail. */
const LOG_STATES = ['off', 'starting', 'running', 'delayed', 'stopped'] as const;

function logStateOf({ state, isDelayed }: LogStatus): (typeof LOG_STATES)[number] {
  return state === 'running' && isDelayed ? 'delayed' : state;
}

const HALTS = ['forked', 'altered'] as const satisfies readonly Halt[];

/** Without a log, only `phm_log_state`, `phm_log_stopped`, `phm_log_halted` and `phm_log_delayed` have series. */
export function logMetrics(log: () => LogStatus): Definition[] {
  const whileOn = (valueIn: (status: LogStatus) => number | null): readonly Sample[] => {
    const status = log();
    const value = status.state === 'off' ? null : valueIn(status);
    return value === null ? [] : one(value);
  };
  return [
    {
      type: 'gauge',
      name: 'phm_log_state',
      help: '1 for what the transparency log does, 0 for the rest',
      meaning: '1 for `off`, `starting`, `running`, `delayed` or `stopped`',
      labelNames: ['state'],
      read: () => {
        const current = logStateOf(log());
        return LOG_STATES.map((state): Sample => [{ state }, Number(state === current)]);
      },
    },
    {
      type: 'gauge',
      name: 'phm_log_stopped',
      help: '1 while the transparency log is stopped: nothing is added, served or proved',
      meaning: '1 while the log [has stopped](incidents.md#the-log-has-stopped)',
      read: () => one(log().state === 'stopped'),
    },
    {
      type: 'gauge',
      name: 'phm_log_halted',
      help: '1 for why the transparency log lets no key leave this server, 0 for the rest',
      meaning:
        '1 while the log lets no key leave this server: `forked` ([a fork](incidents.md#the-log-has-forked)) or `altered` ([changed rows](incidents.md#the-rows-of-the-log-were-changed))',
      labelNames: ['cause'],
      read: () => HALTS.map((cause): Sample => [{ cause }, Number(log().halt === cause)]),
    },
    {
      type: 'gauge',
      name: 'phm_log_delayed',
      help: '1 while turns of the transparency log fail: entries wait, and are tried again each second',
      meaning: '1 while turns [fail](incidents.md#in-the-log), so that no checkpoint is published',
      read: () => one(log().isDelayed),
    },
    {
      type: 'gauge',
      name: 'phm_log_tree_size',
      help: 'Entries in the published tree of the transparency log',
      meaning: 'Entries under the newest published checkpoint',
      read: () => whileOn(({ size }) => size),
    },
    {
      type: 'gauge',
      name: 'phm_log_head_age_seconds',
      help: 'Time since the served head was published; it grows while nothing is added',
      meaning: 'Age of the newest published checkpoint; it grows while nothing is added',
      read: () => whileOn(({ headMs }) => (headMs === null ? null : secondsSince(headMs))),
    },
    {
      type: 'gauge',
      name: 'phm_log_pending',
      help: 'Entries in the database that wait for the transparency log',
      meaning: 'Entries that wait for the log, counted up to 100,000. Absent without a log',
      read: () => whileOn(({ pending }) => pending),
    },
    {
      type: 'counter',
      name: 'phm_log_set_aside_total',
      help: 'Entries in the database that were set aside, because the log did not make them',
      meaning:
        'Entries [set aside](incidents.md#an-entry-that-was-set-aside), up to 100,000. Absent without a log',
      read: () => whileOn(({ setAside }) => setAside),
    },
    {
      type: 'gauge',
      name: 'phm_log_witnessed_size',
      help: 'Entries in the newest tree with enough cosignatures of witnesses',
      meaning: 'Entries under the newest checkpoint with the quorum',
      read: () => whileOn(({ witnessedSize }) => witnessedSize),
    },
    {
      type: 'counter',
      name: 'phm_log_witness_failures_total',
      help: 'Submissions to a witness that gave no cosignature',
      meaning: 'Checkpoints that a witness did not cosign',
      labelNames: ['witness'],
      read: () => [...log().witnessFailures].map(([witness, n]): Sample => [{ witness }, n]),
    },
  ];
}

function secondsSince(ms: number): number {
  return Math.max(0, Date.now() - ms) / SECOND_MS;
}
