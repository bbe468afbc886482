/** Two agents that rotate one key, and what is bound to each key of theirs, so that it is taken for no other. */
import { createHash } from 'node:crypto';
import { canonicalJson } from '../../../tlog/src/index.ts';
import type { Party } from '../source/key-boxes.ts';

/** The use of a key, as its context names it. */
const USE = 'phm-agent/psk/v1';

interface Ends {
  readonly own: Party;
  readonly peer: Party;
  /** The names of the services in their receipts. */
  readonly origins: readonly string[];
  readonly intervalMs: number;
}

export class Link {
  readonly own: Party;
  readonly peer: Party;
  readonly #named: Readonly<Record<string, string | number | string[]>>;

  constructor({ own, peer, origins, intervalMs }: Ends) {
    this.own = own;
    this.peer = peer;
    this.#named = {
      agents: [own.thumbprint, peer.thumbprint].sort(),
      seconds: intervalMs / 1000,
      services: [...origins].sort(),
      use: USE,
    };
  }

  /** Reports whether this end has the keys made. */
  get isLeader(): boolean {
    return this.own.thumbprint < this.peer.thumbprint;
  }

  /** The same at both ends, and only for this pair, these services and this interval. */
  get id(): string {
    return digestOf(this.#named);
  }

  /** Returns what is bound to the keys of an epoch: base64 of 32 bytes. */
  contextOf(epoch: number): string {
    return digestOf({ ...this.#named, epoch });
  }
}

function digestOf(named: Parameters<typeof canonicalJson>[0]): string {
  return createHash('sha256').update(canonicalJson(named)).digest('base64');
}
