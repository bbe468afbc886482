/** Loads servers from the process of `load-generator.ts`. */
import { type ChildProcess, fork } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { resolve } from 'node:path';
import { threadTimes } from './cpu.ts';
import type { Load, Round, Target } from './load.ts';
import type { Answers, Order } from './load-generator.ts';

const GENERATOR = resolve(import.meta.dirname, 'load-generator.ts');

/** Time in which connections are made and code is compiled. */
const WARM_UP_MS = 1_000;

/** Enough for a number in each request of a round. */
const COUNTER_DIGITS = 9;

/** The one process that sends all load; it keeps its compiled code from round to round. */
class LoadGenerator {
  readonly #child: ChildProcess;
  readonly #waiting: Map<number, PromiseWithResolvers<Answers>> = new Map();
  #orders = 0;

  constructor() {
    this.#child = fork(GENERATOR, { serialization: 'advanced' });
    // It ends with the bench, when the channel closes.
    this.#child.unref();
    this.#child.channel?.unref();
    this.#child.on('message', (answers: Answers) => {
      this.#waiting.get(answers.id)?.resolve(answers);
      this.#waiting.delete(answers.id);
      if (this.#waiting.size === 0) this.#child.channel?.unref();
    });
    this.#child.on('exit', () => {
      for (const { reject } of this.#waiting.values())
        reject(new Error('the load generator ended'));
    });
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  run(order: Omit<Order, 'id'>): Promise<Answers> {
    const id = ++this.#orders;
    this.#child.channel?.ref();
    this.#child.send({ ...order, id } satisfies Order);
    const waiting = Promise.withResolvers<Answers>();
    this.#waiting.set(id, waiting);
    return waiting.promise;
  }
}

let generator: LoadGenerator | undefined;

function theGenerator(): LoadGenerator {
  generator ??= new LoadGenerator();
  return generator;
}

/** Returns the microseconds of processor time that the load generator has taken so far. */
export function generatorTime(): number {
  return threadTimes(theGenerator().pid)
    .values()
    .reduce((sum, us) => sum + us, 0);
}

/** Loads a target for some seconds as fast as it answers. Answers other than 2xx are problems and do not count. */
export function drive(target: Target, load: Load, seconds: number): Promise<Round> {
  return send(target, load, { countedMs: 1_000 * seconds, warmUpMs: 0, perSecond: null });
}

/**
 * Sends requests at even intervals over some seconds without waiting for earlier answers, as users do. The latency
 * of each counts from its due time, so that a stall shows in every request that it delays. It also contains up to a
 * millisecond of the generator's timer.
 */
export function drivePaced(
  target: Target,
  load: Load,
  seconds: number,
  perSecond: number,
): Promise<Round> {
  return send(target, load, { countedMs: 1_000 * seconds, warmUpMs: WARM_UP_MS, perSecond });
}

async function send(
  target: Target,
  load: Load,
  times: Pick<Order, 'countedMs' | 'warmUpMs' | 'perSecond'>,
): Promise<Round> {
  const { hostname: host, port } = new URL(target.address);
  const { connections } = load;
  const order = { host, port: Number(port), connections, ...requestOf(target, load), ...times };
  const { latenciesMs, failures } = await theGenerator().run(order);
  return {
    perSecond: latenciesMs.length / (times.countedMs / 1_000),
    latenciesMs: latenciesMs.sort(),
    problems: [...failures].map(([what, count]) => `${count} × ${what}`),
  };
}

/** Returns the bytes of a request, and where its number goes if a header differs in each request. */
function requestOf(
  { address, headers }: Target,
  { path, body, ownHeader }: Load,
): Pick<Order, 'request' | 'counter'> {
  const common = { host: new URL(address).host, ...headers };
  const lines = Object.entries(common).map(([name, value]) => `${name}: ${value}`);
  const head = [`POST ${path} HTTP/1.1`, ...lines, `content-length: ${Buffer.byteLength(body)}`];
  if (ownHeader === undefined) {
    return { request: `${head.join('\r\n')}\r\n\r\n${body}`, counter: null };
  }
  const upToCounter = `${head.join('\r\n')}\r\n${ownHeader}: ${randomUUID()}-`;
  const request = `${upToCounter}${'0'.repeat(COUNTER_DIGITS)}\r\n\r\n${body}`;
  return { request, counter: { at: upToCounter.length, digits: COUNTER_DIGITS } };
}
