/** The routes of the access list: who may share keys with whom, which both ends must state alike. */
import { type Agent, type Route, routeOf, type System } from '../keys/route.ts';
import type { Faults } from './members.ts';
import type { AccessShape, Shape } from './shape.ts';

/** Returns the routes. `own` is the agent of this configuration; `origins` are the names of the services in receipts. */
export function routesOf(
  shape: Shape,
  own: Agent,
  origins: readonly string[],
  faults: Faults,
): Route[] {
  checkAgents(shape, own, faults);
  const systems = systemsOf(shape, own, faults);
  const routes = shape.access.flatMap((access, i) => {
    const path = `access[${i}]`;
    const found = findSystems(access, systems, path, faults);
    if (found === null) return [];
    const route = routeOf(found.master, found.slaves, origins);
    if (!route.parties.some(({ thumbprint }) => thumbprint === own.thumbprint)) {
      faults.add(path, 'names no system of this agent');
    }
    return [route];
  });
  const contexts = routes.map(({ context }) => context);
  for (const [i, context] of contexts.entries()) {
    if (contexts.indexOf(context) < i) faults.add(`access[${i}]`, 'is there twice');
  }
  return routes;
}

function checkAgents({ name, recipient, peers }: Shape, own: Agent, faults: Faults): void {
  const seen = { name: [name], recipient: [recipient], thumbprint: [own.thumbprint] };
  for (const [i, peer] of peers.entries()) {
    for (const what of ['name', 'recipient', 'thumbprint'] as const) {
      if (peer[what] !== '' && seen[what].includes(peer[what])) {
        faults.add(`peers[${i}].${what}`, 'is that of another agent, or of this one');
      }
      seen[what].push(peer[what]);
    }
  }
}

function systemsOf(shape: Shape, own: Agent, faults: Faults): Map<string, System> {
  const systems = new Map<string, System>();
  const add = (name: string, agent: Agent, path: string): void => {
    if (!systems.has(name)) systems.set(name, { name, agent });
    else faults.add(path, `has ${JSON.stringify(name)}, which another agent has`);
  };
  for (const name of shape.systems) add(name, own, 'systems');
  for (const [i, peer] of shape.peers.entries()) {
    for (const name of peer.systems) add(name, peer, `peers[${i}].systems`);
  }
  return systems;
}

function findSystems(
  { master, slaves }: AccessShape,
  systems: ReadonlyMap<string, System>,
  path: string,
  faults: Faults,
): { readonly master: System; readonly slaves: readonly System[] } | null {
  const names = [master, ...slaves].filter((name) => name !== '');
  for (const name of names.filter((one) => !systems.has(one))) {
    faults.add(path, `names ${JSON.stringify(name)}, which is no system of this agent or a peer`);
  }
  const first = systems.get(master);
  const others = slaves.flatMap((name) => systems.get(name) ?? []);
  return first === undefined || others.length < slaves.length || others.length === 0
    ? null
    : { master: first, slaves: others };
}
