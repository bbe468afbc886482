/**
 * Who shares keys: one master and its slaves. What both ends know of a route gives the context that is bound to each key
 * of it, so that a key of one route is never taken for a key of another.
 */
import { createHash } from 'node:crypto';
import { canonicalJson } from '../../../tlog/src/index.ts';
import type { Party } from '../source/key-boxes.ts';

/** A system that fetches keys (in ETSI GS QKD 014: an SAE), and the agent that serves it (a KME). */
export interface System {
  readonly name: string;
  readonly agent: Agent;
}

export interface Agent extends Party {
  readonly name: string;
}

export interface Route {
  readonly master: System;
  /** One or several, all different, in the order of their names. */
  readonly slaves: readonly System[];
  /** The agents of all, each once, that of the master first. */
  readonly parties: readonly Agent[];
  /** base64 of 32 bytes. */
  readonly context: string;
}

/** The use of a key, as its context names it. */
const USE = 'phm-agent/route/v1';

/** Returns a route. `origins` are the services' names in their receipts. */
export function routeOf(
  master: System,
  slaves: readonly System[],
  origins: readonly string[],
): Route {
  const ordered = [...slaves].sort((a, b) => compare(a.name, b.name));
  const agents = new Map([master, ...ordered].map(({ agent }) => [agent.thumbprint, agent]));
  const named = canonicalJson({
    master: master.name,
    services: [...origins].sort(compare),
    slaves: ordered.map(({ name }) => name),
    use: USE,
  });
  const context = createHash('sha256').update(named).digest('base64');
  return { master, slaves: ordered, parties: [...agents.values()], context };
}

/** Reports whether keys of a route go to one slave: only these are kept ready. */
export function isPair({ slaves }: Route): boolean {
  return slaves.length === 1;
}

/** Reports whether a route has this master and exactly these slaves. */
export function hasSystems(route: Route, master: string, slaves: readonly string[]): boolean {
  const names = [...slaves].sort(compare);
  return (
    route.master.name === master &&
    route.slaves.length === names.length &&
    route.slaves.every(({ name }, i) => name === names[i])
  );
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
