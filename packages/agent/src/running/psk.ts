/** The running `psk`: lock, record, rotation, metrics, in this order, and back. */
import type { Clock } from '../clock.ts';
import type { AgentConfig } from '../config/load.ts';
import type { Agent } from '../keys/route.ts';
import type { Listener } from '../listeners/listener.ts';
import { Link } from '../psk/link.ts';
import { PskRecord } from '../psk/record.ts';
import { Rotation } from '../psk/rotation.ts';
import type { Confirm, Installer } from '../psk/switcher.ts';
import type { KeyBoxes } from '../source/key-boxes.ts';
import { DirectoryJournal } from '../store/journal-file.ts';
import { lockDirectory } from '../store/lock.ts';
import { addressText } from './address.ts';
import type { Log } from './log.ts';
import { PskMetrics } from './psk-metrics.ts';
import { listenForState } from './state-page.ts';

interface PskOptions {
  readonly config: AgentConfig;
  readonly peer: Agent;
  readonly intervalMs: number;
  readonly installer: Installer;
  readonly confirm: Confirm | null;
  readonly boxes: KeyBoxes;
  readonly clock: Clock;
  readonly log: Log;
}

/**
 * Rotates until the signal aborts; the system keeps the key that it has. Rejects with the reason why it cannot start, such as
 * `LockedError`, `JournalError` or an error of the system.
 */
export async function runPsk(given: PskOptions, signal: AbortSignal): Promise<void> {
  const { config, peer, intervalMs, clock, log } = given;
  const lock = await lockDirectory(config.stateDirectory);
  const file = new DirectoryJournal(config.stateDirectory, 'psk');
  try {
    const metrics = new PskMetrics(log, clock);
    const origins = config.services.map(({ origin }) => origin);
    const link = new Link({ own: config.own, peer, origins, intervalMs });
    const record = await PskRecord.open(file, link.id);
    const rotation = new Rotation({ ...given, link, record, events: metrics });
    const role = link.isLeader ? 'leader' : 'follower';
    log.say('info', 'rotating', { peer: peer.name, role, seconds: intervalMs / 1000 });
    await rotate(config, rotation, metrics, log, signal);
  } finally {
    await file.close();
    await lock.release();
  }
}

async function rotate(
  { metrics: place }: AgentConfig,
  rotation: Rotation,
  metrics: PskMetrics,
  log: Log,
  signal: AbortSignal,
): Promise<void> {
  let listener: Listener | null = null;
  try {
    if (place !== null) {
      const state = {
        get isComplete() {
          return rotation.isComplete;
        },
        metrics: () => metrics.text(rotation),
      };
      listener = await listenForState(place, state);
      log.say('info', 'listening', { addresses: addressText(listener) });
    }
    await rotation.run(signal);
    log.say('info', 'stopping');
  } finally {
    await listener?.close();
  }
}
