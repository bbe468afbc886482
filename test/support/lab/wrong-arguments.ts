/**
 * Calls every function that a package exports with every kind of wrong argument. Each says what it expected and what came: no
 * error of the engine, no result, and nothing that hangs.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

/** What an argument takes, so that those values are not tried. */
interface Takes {
  readonly accepts: (value: unknown) => boolean;
  /** True if the argument may be left out. */
  readonly optional?: boolean;
  /** Of an options object: what each member takes. */
  readonly members?: Readonly<Record<string, Takes>>;
  /** True if it may have further members: a misspelt one then leaves the right one out. */
  readonly isOpen?: boolean;
}

/** One function or method: how it is called, arguments that are right, and what each takes. */
export interface Callee {
  readonly call: (...args: never[]) => unknown;
  readonly args: readonly unknown[];
  readonly takes: readonly Takes[];
}

const takes = (accepts: (value: unknown) => boolean): Takes => ({ accepts });
const isObject = (value: unknown): boolean => typeof value === 'object' && value !== null;

/** A view whose getters throw, as those of a proxy of a frame may. */
const hostile = new Proxy(
  {},
  {
    get: () => {
      throw new TypeError('"proxy" expected nobody, got a reader');
    },
    has: () => {
      throw new TypeError('"proxy" expected nobody, got a reader');
    },
    ownKeys: () => {
      throw new TypeError('"proxy" expected nobody, got a reader');
    },
  },
);

export const nothing: Takes = takes(() => false);
export const bytes: Takes = takes((value) => value instanceof Uint8Array);
export const bits: Takes = takes(() => false);
export function integer(least: number, most: number = Number.MAX_SAFE_INTEGER): Takes {
  return takes(
    (value) => Number.isInteger(value) && Number(value) >= least && Number(value) <= most,
  );
}
export function number(isRight: (value: number) => boolean): Takes {
  return takes((value) => typeof value === 'number' && isRight(value));
}
export function optional(one: Takes): Takes {
  return { ...one, optional: true };
}
/** An options object. An empty one is right. */
export function options(members: Readonly<Record<string, Takes>>): Takes {
  const isRight = (value: unknown): boolean =>
    isObject(value) &&
    value !== hostile &&
    !Array.isArray(value) &&
    Object.keys(Object(value)).length === 0;
  return { accepts: isRight, optional: true, members };
}

/** Makes the values that are tried. */
const VALUES: readonly (() => unknown)[] = [
  () => undefined,
  () => null,
  () => true,
  () => 0,
  () => 1,
  () => -1,
  () => 0.5,
  () => Number.NaN,
  () => Number.POSITIVE_INFINITY,
  () => 2 ** 53,
  () => 1n,
  () => '',
  () => '1',
  () => 'frequencies',
  () => Symbol('s'),
  () => [],
  () => new Array(3),
  () => ['1'],
  () => [Number.NaN],
  () => [null],
  () => ({}),
  () => Object.create(null),
  () => hostile,
  () => () => {},
  () => new Uint8Array(0),
  () => Uint8Array.of(255),
  () => new Uint16Array(8),
  () => new Float64Array(3),
  () => new DataView(new ArrayBuffer(8)),
  () => new ArrayBuffer(8),
  () => new Date(Number.NaN),
  () => new Map(),
  () => Promise.resolve(new Uint8Array(8)),
];

/** `"name" expected what, got what`. */
const SENTENCE = /^"[\w .[\]-]+" (?:expected|has) [\s\S]+(?:, got |: )[\s\S]+$/;

async function assertRefused(call: () => unknown, what: string): Promise<void> {
  let error: Error | undefined;
  try {
    await call();
  } catch (thrown) {
    error = thrown as Error;
  }
  assert.ok(error !== undefined, `${what} is accepted`);
  const isOurs = error instanceof TypeError || error instanceof RangeError;
  assert.ok(isOurs && SENTENCE.test(error.message), `${what}: ${error.stack}`);
}

function shown(value: unknown): string {
  if (value === hostile) return 'a proxy that throws';
  try {
    return typeof value === 'object' && value !== null
      ? `${value.constructor?.name ?? 'bare'} ${JSON.stringify(value)}`
      : String(value);
  } catch {
    return 'an object';
  }
}

async function tryArgument({ call, args, takes: all }: Callee, at: number): Promise<void> {
  const { accepts, optional: mayMiss = false, members, isOpen = false } = all[at] as Takes;
  const run = (value: unknown): unknown => call(...(args.with(at, value) as never[]));
  for (const make of VALUES) {
    const value = make();
    if ((value === undefined && mayMiss) || (value !== hostile && accepts(value))) continue;
    await assertRefused(() => run(value), `argument ${at + 1} as ${shown(value)}`);
  }
  for (const [name, member] of Object.entries(members ?? {})) {
    for (const make of VALUES) {
      const value = make();
      if (value === undefined || (value !== hostile && member.accepts(value))) continue;
      const given = { ...(args[at] as object | undefined), [name]: value };
      await assertRefused(() => run(given), `${name} as ${shown(value)}`);
    }
    const left = isOpen ? { [name]: undefined } : {};
    const misspelt = { ...(args[at] as object | undefined), ...left, [`${name}s`]: 1 };
    await assertRefused(() => run(misspelt), `${name}s`);
  }
}

/** Tests all functions of `exports`. `table` has them by name, and methods of classes as `Class.method`. */
export function testWrongArguments(
  exports: Readonly<Record<string, unknown>>,
  table: Readonly<Record<string, Callee>>,
): void {
  describe('every exported function', () => {
    it('is in the table', () => {
      const functions = Object.keys(exports).filter((name) => typeof exports[name] === 'function');
      const known = new Set(Object.keys(table).map((name) => name.replace(/\..*/, '')));
      assert.deepEqual(
        functions.filter((name) => !known.has(name)),
        [],
      );
    });

    for (const [name, callee] of Object.entries(table)) {
      it(`${name} takes what is right`, async () => {
        await callee.call(...(callee.args as never[]));
      });
      for (const [at, { optional: mayMiss }] of callee.takes.entries()) {
        it(`${name} refuses every wrong argument ${at + 1}`, async () => {
          await tryArgument(callee, at);
          const fewer = callee.args.slice(0, at) as never[];
          if (!mayMiss) await assertRefused(() => callee.call(...fewer), 'a missing argument');
        });
      }
    }
  });
}
