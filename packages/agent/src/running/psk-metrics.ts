/** Figures of an agent that rotates a key with a peer, and the log of what they count. */
import type { Clock } from '../clock.ts';
import type { PskEvents } from '../psk/events.ts';
import type { Rotation } from '../psk/rotation.ts';
import type { Log } from './log.ts';
import { SourceMetrics } from './source-metrics.ts';

const COUNTERS = {
  source_failures_total: 'calls of the service that failed, by call',
  copies_refused_total: 'copies in the box that are no keys of this link',
  journal_failures_total: 'changes of the record that the disk did not take',
  psk_confirmed_total: 'keys that came into use',
  psk_taken_back_total:
    'keys that were not confirmed or not installed, so that the old one came back',
  psk_install_failures_total: 'attempts to install a key that failed',
  psk_stayed_total: 'epochs that began without a key that both ends have',
} as const;

const GAUGES = {
  psk_epoch: 'the present epoch',
  psk_confirmed_epoch: 'epoch of the confirmed key; 0 while a new one is not confirmed',
  psk_keys_ahead: 'coming epochs whose keys both ends have',
} as const;

export class PskMetrics
  extends SourceMetrics<keyof typeof COUNTERS, keyof typeof GAUGES>
  implements PskEvents
{
  constructor(log: Log, clock: Clock) {
    super(log, clock, COUNTERS, GAUGES, 'no key is changed: the record failed');
    for (const name of Object.keys(COUNTERS) as (keyof typeof COUNTERS)[]) {
      if (name !== 'source_failures_total') this.figures.count(name, 0);
    }
  }

  agreed(epoch: number, id: string): void {
    this.log.say('info', 'both ends have the key', { epoch, id });
  }

  installed(epoch: number, id: string): void {
    this.log.say('info', 'the key is installed', { epoch, id });
  }

  installFailed(epoch: number, reason: string): void {
    this.figures.count('psk_install_failures_total', 1);
    this.log.sometimes('error', 'the key was not installed', reason, { epoch, reason });
  }

  confirmed(epoch: number, id: string): void {
    this.figures.count('psk_confirmed_total', 1);
    this.log.say('info', 'the key is in use', { epoch, id });
  }

  takenBack(epoch: number, hasOld: boolean): void {
    this.figures.count('psk_taken_back_total', 1);
    const message = hasOld
      ? 'the key of the epoch failed: the old one comes back'
      : 'the key of the epoch failed, and there is no old one';
    this.log.say('error', message, { epoch });
  }

  stayed(epoch: number): void {
    this.figures.count('psk_stayed_total', 1);
    this.log.say('warn', 'no key of the epoch can be used: the old one stays', { epoch });
  }

  /** Returns the page of all figures. */
  text(rotation: Rotation): string {
    const { epoch, confirmed, ahead } = rotation;
    const values = {
      psk_epoch: epoch,
      psk_confirmed_epoch: confirmed?.epoch ?? 0,
      psk_keys_ahead: ahead,
    };
    return this.page((name) => [` ${values[name]}`]);
  }
}
