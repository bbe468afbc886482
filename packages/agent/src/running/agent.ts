/** The running agent: lock, journal, keys, listeners, in this order, and back. */
import type { Clock } from '../clock.ts';
import type { AgentConfig } from '../config/load.ts';
import { Etsi014 } from '../etsi014/interface.ts';
import { Keeper } from '../keys/keeper.ts';
import { type Listener, listen } from '../listeners/listener.ts';
import { Skip } from '../skip/interface.ts';
import type { KeyBoxes } from '../source/key-boxes.ts';
import { Journal } from '../store/journal.ts';
import { DirectoryJournal } from '../store/journal-file.ts';
import { lockDirectory } from '../store/lock.ts';
import { addressText } from './address.ts';
import type { Log } from './log.ts';
import { Metrics } from './metrics.ts';
import { type AgentState, listenForState } from './state-page.ts';

interface AgentOptions {
  readonly config: AgentConfig;
  readonly boxes: KeyBoxes;
  readonly clock: Clock;
  readonly log: Log;
}

/**
 * Runs until the signal aborts. Rejects with the reason why it cannot start, such as `LockedError`, `JournalError` or an
 * error of the system. `onListening` gets the addresses: those for systems in the order of the configuration, then that of
 * the metrics.
 */
export async function runAgent(
  { config, boxes, clock, log }: AgentOptions,
  signal: AbortSignal,
  onListening: (listeners: readonly Listener[]) => void = () => {},
): Promise<void> {
  const lock = await lockDirectory(config.stateDirectory);
  const file = new DirectoryJournal(config.stateDirectory);
  try {
    const metrics = new Metrics(log, clock);
    const keeper = new Keeper({
      own: config.own.thumbprint,
      routes: config.routes,
      pools: config.pools,
      boxes,
      journal: await Journal.open(file),
      clock,
      events: metrics,
    });
    await serve(config, keeper, metrics, log, signal, onListening);
  } finally {
    await file.close();
    await lock.release();
  }
}

async function serve(
  config: AgentConfig,
  keeper: Keeper,
  metrics: Metrics,
  log: Log,
  signal: AbortSignal,
  onListening: (listeners: readonly Listener[]) => void,
): Promise<void> {
  const stopping = new AbortController();
  const listeners: Listener[] = [];
  const keys = keeper.run(stopping.signal);
  try {
    await open(config, keeper, metrics, listeners);
    log.say('info', 'listening', { addresses: listeners.map(addressText).join(' ') });
    onListening(listeners);
    await Promise.race([aborted(signal), keys]);
    log.say('info', 'stopping');
  } finally {
    await Promise.all(listeners.map((one) => one.close()));
    stopping.abort();
    await keys;
  }
}

/** Adds listeners as they open, so that a failure closes those before it. */
async function open(
  { own, pools, listeners: places, metrics: place }: AgentConfig,
  keeper: Keeper,
  metrics: Metrics,
  listeners: Listener[],
): Promise<void> {
  const { size, most } = pools;
  const interfaces = {
    'etsi-014': new Etsi014({ keeper, name: own.name, size, most }),
    skip: new Skip({ keeper, size }),
  };
  for (const one of places) {
    const spoken = interfaces[one.interface];
    const answer = spoken.answer.bind(spoken);
    listeners.push(await listen({ ...one, answer, events: metrics }));
  }
  if (place !== null) listeners.push(await listenForState(place, stateOf(keeper, metrics)));
}

function stateOf(keeper: Keeper, metrics: Metrics): AgentState {
  return {
    get isComplete() {
      return keeper.isComplete;
    },
    metrics: () => metrics.text(keeper),
  };
}

function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    signal.addEventListener('abort', () => resolve(), { once: true });
  });
}
