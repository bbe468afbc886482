/** Runs faults on one store, from the first server to the summary. */
import { spawnSync } from 'node:child_process';
import { Campaign, type FaultRecord, plan } from './campaign.ts';
import { CLOCK_FAULTS } from './clock-faults.ts';
import { noProxy } from './haproxy.ts';
import { POSTGRES_FAULTS } from './postgres-faults.ts';
import { noPair } from './postgres-pair.ts';
import { PostgresSite } from './postgres-site.ts';
import { SERVER_FAULTS } from './server-faults.ts';
import type { Fault, Site } from './site.ts';
import { SQLITE_FAULTS } from './sqlite-faults.ts';
import { SqliteSite } from './sqlite-site.ts';

export type Store = 'postgres' | 'sqlite';

/** Number of faults to draw. A run ends before it reaches this number. */
const MOST_FAULTS = 1_000;

interface RunOptions {
  readonly store: Store;
  /** Folder of the project that runs. */
  readonly checkout: string;
  /** Folder for data and logs. */
  readonly folder: string;
  readonly seed: number;
  /** Called before each fault: false ends the run. */
  readonly goesOn: () => boolean;
  readonly only: RegExp;
  readonly without: RegExp;
  readonly tell: (record: FaultRecord) => void;
}

/** The results of all faults with one name. */
export interface FaultSummary {
  readonly fault: string;
  readonly times: number;
  readonly longestReturnMs: number;
  readonly hiddenMs: number;
  readonly lost: number;
  /** Count of 503 answers that are not a problem document or lack Retry-After. */
  readonly broken: number;
  /** Number of failed starts of a server because something was unavailable. */
  readonly startsGivenUp: number;
  /** Choices and outcomes of faults that are only attempts. */
  readonly outcomes: readonly string[];
  readonly findings: readonly string[];
}

export interface Run {
  readonly store: Store;
  readonly commit: string;
  readonly seed: number;
  readonly began: string;
  readonly minutes: number;
  readonly faults: number;
  readonly released: number;
  readonly rows: number;
  readonly lost: number;
  /** True if no key was lost, no outage hidden and no problem found. */
  readonly sound: boolean;
  readonly skipped: readonly string[];
  readonly summary: readonly FaultSummary[];
}

/** Returns the reason why this machine cannot test a store, or false. */
export function noFaults(store: Store): string | false {
  return noProxy || (store === 'postgres' && noPair);
}

export async function runFaults(options: RunOptions): Promise<Run> {
  const { store, checkout, folder, seed } = options;
  if (store === 'sqlite') {
    const site = await SqliteSite.start(checkout, folder, seed);
    return runOn(
      site,
      [...SERVER_FAULTS, ...CLOCK_FAULTS, ...SQLITE_FAULTS],
      options,
      async () => {},
    );
  }
  const site = await PostgresSite.start(checkout, folder, seed);
  const faults = [...SERVER_FAULTS, ...CLOCK_FAULTS, ...POSTGRES_FAULTS];
  return runOn(site, faults, options, () => site.pair.heal());
}

async function runOn<S extends Site>(
  site: S,
  all: readonly Fault<S>[],
  options: RunOptions,
  heal: () => Promise<void>,
): Promise<Run> {
  const { store, checkout, seed, goesOn, only, without, tell } = options;
  const began = Date.now();
  const asked = all.filter(({ name }) => only.test(name) && !without.test(name));
  const skipped = asked.flatMap((fault) => {
    const reason = fault.skip?.(site);
    return reason ? [`${fault.name}: ${reason}`] : [];
  });
  const faults = asked.filter((fault) => !fault.skip?.(site));
  const campaign = new Campaign(site, heal);
  try {
    await campaign.run(plan(faults, MOST_FAULTS, seed), goesOn, tell);
  } finally {
    await site.close();
  }
  const { records, released, rows, lost } = campaign;
  const summary = summarize(records);
  return {
    store,
    commit: describeCommit(checkout),
    seed,
    began: new Date(began).toISOString(),
    minutes: Math.round((Date.now() - began) / 6_000) / 10,
    faults: records.length,
    released,
    rows,
    lost,
    sound: lost === 0 && summary.every(isSound),
    skipped,
    summary,
  };
}

function isSound({ lost, hiddenMs, broken, findings }: FaultSummary): boolean {
  return lost === 0 && hiddenMs === 0 && broken === 0 && findings.length === 0;
}

const GIVEN_UP = /start ended with/;
const ATTEMPT = /^(clock|start)/;

/** Returns the results by fault name. */
export function summarize(records: readonly FaultRecord[]): FaultSummary[] {
  const byName = Map.groupBy(records, ({ fault }) => fault);
  return [...byName].map(([fault, some]) => ({
    fault,
    times: some.length,
    longestReturnMs: Math.max(...some.map(({ returnMs }) => returnMs ?? Number.POSITIVE_INFINITY)),
    hiddenMs: some.reduce((sum, { hiddenMs }) => sum + hiddenMs, 0),
    lost: some.reduce((sum, { lost }) => sum + lost, 0),
    broken: some.reduce(
      (sum, { broken }) => sum + Object.values(broken).reduce((all, one) => all + one, 0),
      0,
    ),
    startsGivenUp: some.flatMap(({ events }) => events).filter((event) => GIVEN_UP.test(event))
      .length,
    outcomes: ATTEMPT.test(fault) ? [...new Set(some.map(({ chosen }) => chosen))] : [],
    findings: [...new Set(some.flatMap(({ findings }) => findings))],
  }));
}

const seconds = (ms: number) => (ms / 1000).toFixed(1);

/** Returns the run as text, with one line per fault and its findings below. */
export function printRun(run: Run): string {
  const { store, commit, seed, began, minutes, faults, released, rows, lost } = run;
  const head = [
    `${store}, commit ${commit}, seed ${seed}, ${began}, ${minutes} minutes`,
    `${faults} faults, ${released} keys released, ${rows} rows, ${lost} keys lost`,
    ...run.skipped.map((reason) => `skipped: ${reason}`),
    '',
    'times  lost  hidden s  503 outside contract  longest return s  fault',
  ];
  const lines = run.summary.flatMap((one) => [
    [
      String(one.times).padStart(5),
      String(one.lost).padStart(4),
      seconds(one.hiddenMs).padStart(8),
      String(one.broken).padStart(20),
      seconds(one.longestReturnMs).padStart(16),
      one.fault,
    ].join('  '),
    ...one.findings.map((finding) => `${' '.repeat(63)}! ${finding}`),
  ]);
  return [...head, ...lines, ''].join('\n');
}

/** Returns the commit of a checkout; "unknown" for a copy without its history. */
function describeCommit(checkout: string): string {
  const { status, stdout } = spawnSync('git', ['-C', checkout, 'describe', '--always', '--dirty'], {
    encoding: 'utf8',
  });
  return status === 0 ? stdout.trim() : 'unknown';
}
