/** `assess` with wrong options: a message says what was expected and what came. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { assess, openReader } from '../../src/index-node.ts';

const BYTES = new Uint8Array(1_000);
const OPTIONS = { bits: 1_000, workers: 0, format: 'binary', tests: ['frequency'] } as const;

/** A member that is misspelt, and the nearest. */
const MISSPELT: readonly (readonly [options: object, message: string])[] = [
  [{ sequence: 3 }, '"options" expected "sequences", got "sequence"'],
  [{ BITS: 3 }, '"options" expected "bits", got "BITS"'],
  [{ bit: 3 }, '"options" expected "bits", got "bit"'],
  [{ onreport: () => {} }, '"options" expected "onReport", got "onreport"'],
  [{ paramters: {} }, '"options" expected "parameters", got "paramters"'],
  [{ write: { HTML: () => {} } }, '"write" expected "html", got "HTML"'],
  [{ write: { xml: () => {} } }, '"write" expected members from json, csv, text, html, got "xml"'],
  [{ parameters: { serialm: 3 } }, '"parameters" expected "serialM", got "serialm"'],
  [{ report: { labratory: 'L' } }, '"report" expected "laboratory", got "labratory"'],
  [{ software: { name: 'x' } }, '"software" expected members from program, build, got "name"'],
  [{ kernels: { sse: BYTES } }, '"kernels" expected members from relaxed-simd, simd, got "sse"'],
];

const NOTHING_MORE = Number.MAX_SAFE_INTEGER;
const COUNTS = ['1', null, {}, 1n, Number.NaN, -1, 0.5, 2 ** 53, Infinity] as const;
const NO_FUNCTIONS = [null, 1, 'f', {}, true] as const;
const NO_TEXTS = [null, 1, {}, [], () => ''] as const;

/** Wrong values of each option, without those that mean something. */
const WRONG: Readonly<Record<string, readonly unknown[]>> = {
  name: NO_TEXTS,
  format: ['HEX', 'text', '', null, 1, ['hex']],
  bits: [...COUNTS.filter((value) => value !== null), 0, 2 ** 26 + 1],
  sequences: [...COUNTS.filter((value) => value !== null), 0],
  offset: COUNTS,
  constants: ['NIST', null, 1],
  tests: ['runs', null, {}, ['luck'], [null], [undefined, 'runs'], new Set(['runs']), []],
  parameters: [
    null,
    [],
    1,
    { serialM: 1 },
    { serialM: '16' },
    { templateM: NaN },
    { serialM: null },
  ],
  supplements: ['none', null, {}, ['luck'], [1]],
  workers: [...COUNTS, 1_025],
  createWorker: NO_FUNCTIONS,
  kernels: [null, [], { simd: [0] }, { simd: 'AGFzbQ' }],
  onReport: NO_FUNCTIONS,
  onSequence: NO_FUNCTIONS,
  onProgress: NO_FUNCTIONS,
  write: [null, [], () => {}, { json: 'file.json' }, { text: null }],
  omitBits: [null, 0, 'yes'],
  report: [null, [], 'L', { note: 1 }, { note: null }, { note: 'x'.repeat(501) }, { note: 'a\nb' }],
  input: NO_FUNCTIONS,
  software: [null, 'phm', {}, { program: 'p' }, { program: 1, build: 'b' }],
  created: [...NO_TEXTS, new Date()],
  signal: [null, 1, {}, new AbortController(), new EventTarget()],
};

describe('the options of assess', () => {
  for (const [options, message] of MISSPELT) {
    it(`are not misspelt: ${message}`, async () => {
      const run = assess(BYTES, { ...OPTIONS, ...options });
      await assert.rejects(run, { name: 'TypeError', message });
    });
  }

  for (const [option, values] of Object.entries(WRONG)) {
    it(`have ${option} of its type and range`, async () => {
      for (const value of values) {
        const options = { ...OPTIONS, [option]: value };
        const error = await assess(BYTES, options).then(
          () => assert.fail(`accepted ${String(value)}`),
          (one: unknown) => one,
        );
        assert.ok(error instanceof TypeError || error instanceof RangeError, String(error));
        assert.match(error.message, /^"[\w.-]+" expected .+, got .+$/, option);
        const isOfType = typeof value === 'number' && !['omitBits'].includes(option);
        const takesNumbers = ['bits', 'sequences', 'offset', 'workers'].includes(option);
        if (isOfType && takesNumbers) assert.equal(error.name, 'RangeError');
      }
    });
  }

  it('are an object', async () => {
    for (const options of [null, 1, 'bits', [], true, () => {}]) {
      await assert.rejects(assess(BYTES, options as never), {
        name: 'TypeError',
        message: /^"options" expected an object, got /,
      });
    }
  });

  it('are each refused before the source is touched', async () => {
    const source = new ReadableStream<Uint8Array>();
    await assert.rejects(assess(source, { ...OPTIONS, workers: -1 }), RangeError);
    assert.equal(source.locked, false);
  });

  it('may be undefined, or null for all', async () => {
    const left = Object.fromEntries(Object.keys(WRONG).map((option) => [option, undefined]));
    const { summary } = await assess(BYTES, { ...left, ...OPTIONS, sequences: null });
    assert.equal(summary.sequences, 8);
    const whole = await assess(BYTES, { ...OPTIONS, bits: null, sequences: NOTHING_MORE });
    assert.equal(whole.summary.sequences, 1);
  });

  it('throw what their getters throw', async () => {
    const own = new Error('mine');
    const options = {
      get bits(): number {
        throw own;
      },
    };
    await assert.rejects(assess(BYTES, options), own);
  });

  it('throw what their functions throw, whatever it is', async () => {
    const own = new Error('mine');
    const fail = (): never => {
      throw own;
    };
    for (const option of ['onReport', 'onSequence', 'onProgress', 'input']) {
      await assert.rejects(assess(BYTES, { ...OPTIONS, [option]: fail }), own, option);
    }
    for (const kind of ['json', 'csv', 'text', 'html']) {
      await assert.rejects(assess(BYTES, { ...OPTIONS, write: { [kind]: fail } }), own, kind);
    }
  });

  it('name a worker that is none', async () => {
    for (const worker of [undefined, null, 1, {}, { postMessage() {} }]) {
      const options = { ...OPTIONS, workers: 1, createWorker: () => worker as never };
      await assert.rejects(assess(BYTES, options), {
        code: 'worker',
        message: /failed: "createWorker" expected to return a Worker, got /,
      });
    }
  });
});

describe('openReader', () => {
  it('refuses other formats and rules', () => {
    const open = openReader as (...args: unknown[]) => unknown;
    for (const args of [
      [BYTES, 'HEX'],
      [BYTES, null],
      [BYTES, 1],
      [BYTES, undefined, null],
      [BYTES, undefined, { neededbytes: 1 }],
      [BYTES, undefined, { neededBytes: -1 }],
      [BYTES, undefined, { accepts: true }],
      [],
    ]) {
      assert.throws(
        () => open(...args),
        (error: Error) => /^"[\w.]+" expected .+, got .+$/.test(error.message),
      );
    }
  });

  it('gives nothing after it was closed', async () => {
    const reader = openReader(BYTES, 'binary');
    await reader.close();
    await assert.rejects(reader.readSequence(8), { code: 'unreadable', message: /closed/ });
  });
});
