/**
 * A signal ends `assess` whatever its source and its workers do, and leaves nothing running. No time is asserted: what waits in
 * these tests never answers.
 */
import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { PassThrough } from 'node:stream';
import { describe, it } from 'node:test';
import { AssessError, type AssessOptions, assess, type Source } from '../../src/index-node.ts';
import { startWorker } from '../../src/node.ts';
import type { SuiteWorker } from '../../src/platform.ts';

const OPTIONS: AssessOptions = { bits: 1_000, workers: 0, format: 'binary', tests: ['frequency'] };
const REASON = new Error('enough');

const never = <T>(): Promise<T> => new Promise(() => {});

/** A source, and what it was told when the run ended. */
interface Watched {
  readonly source: Source;
  readonly ended: () => unknown;
}

/** Sources that give 2,000 bits and then nothing, for ever. */
const WAITING: Readonly<Record<string, () => Watched>> = {
  'a stream of Node': () => {
    const source = new PassThrough();
    source.write(new Uint8Array(250));
    return { source, ended: () => source.destroyed };
  },
  'a stream of the web': () => {
    let cancelled = false;
    const source = new ReadableStream<Uint8Array>({
      start: (controller) => controller.enqueue(new Uint8Array(250)),
      cancel: () => {
        cancelled = true;
        return never<void>();
      },
    });
    return { source, ended: () => cancelled };
  },
  'an iterator': () => {
    let given = false;
    let returned = false;
    const next = (): Promise<IteratorResult<Uint8Array>> => {
      if (given) return never();
      given = true;
      return Promise.resolve({ done: false, value: new Uint8Array(250) });
    };
    const end = (): Promise<never> => {
      returned = true;
      return never();
    };
    const source = { [Symbol.asyncIterator]: () => ({ next, return: end }) };
    return { source, ended: () => returned };
  },
  'a blob': () => {
    const slice = () => ({ arrayBuffer: () => never<ArrayBuffer>() });
    return { source: { size: 1_000, slice }, ended: () => true };
  },
  'a byte source that does not close': () => {
    let closed = false;
    const read = () => never<number>();
    const close = (): Promise<void> => {
      closed = true;
      return never();
    };
    return { source: { sizeBytes: undefined, read, close }, ended: () => closed };
  },
};

/** Sources whose promises are always settled, so that no timer and no message comes between two of them. */
const BUSY: Readonly<Record<string, (value: Uint8Array) => Source>> = {
  'an iterator': (value) => ({
    [Symbol.asyncIterator]: () => ({ next: async () => ({ done: false, value }) }),
  }),
  'a stream of the web': (value) => {
    const pull = (controller: ReadableStreamDefaultController<Uint8Array>): void =>
      controller.enqueue(value.slice());
    return new ReadableStream({ pull });
  },
  'a byte source': (value) => ({
    sizeBytes: undefined,
    read: async (into) => Math.min(into.length, Math.max(1, value.length)),
    close: async () => {},
  }),
};

async function assertAborted(run: Promise<unknown>): Promise<AssessError> {
  const error = await run.then(
    () => assert.fail('it ended'),
    (one: unknown) => one,
  );
  assert.ok(error instanceof AssessError, String(error));
  assert.deepEqual(
    [error.code, error.message, error.cause],
    ['aborted', 'aborted: Error: enough', REASON],
  );
  return error;
}

describe('a signal', () => {
  for (const [kind, make] of Object.entries(WAITING)) {
    it(`ends a run that waits for ${kind}, and its source`, async () => {
      const { source, ended } = make();
      const abort = new AbortController();
      const run = assess(source, { ...OPTIONS, signal: abort.signal });
      setTimeout(() => abort.abort(REASON), 20);
      await assertAborted(run);
      assert.equal(ended(), true);
      assert.deepEqual(getEventListeners(abort.signal, 'abort'), []);
    });

    it(`that was aborted before ends ${kind}`, async () => {
      const { source, ended } = make();
      await assertAborted(assess(source, { ...OPTIONS, signal: AbortSignal.abort(REASON) }));
      assert.equal(ended(), true);
    });
  }

  for (const [kind, make] of Object.entries(BUSY)) {
    for (const [what, value, more] of [
      ['chunks', new Uint8Array(250), { bits: null }],
      ['empty chunks', new Uint8Array(0), {}],
      ['bytes to skip', new Uint8Array(250), { offset: Number.MAX_SAFE_INTEGER }],
    ] as const) {
      if (kind === 'a byte source' && what === 'empty chunks') continue;
      it(`ends a run on ${kind} that gives ${what} without a pause`, async () => {
        const abort = new AbortController();
        const run = assess(make(value), { ...OPTIONS, ...more, signal: abort.signal });
        setTimeout(() => abort.abort(REASON), 1);
        // A whole input of too many bits is another error.
        const error = await run.catch((one: unknown) => one);
        assert.ok(error instanceof AssessError);
        assert.ok(['aborted', 'too-many-bits'].includes(error.code), error.code);
        if (what !== 'chunks') assert.equal(error.code, 'aborted');
      });
    }
  }

  it('that comes between two sequences gives the finished part', async () => {
    const abort = new AbortController();
    let reports = 0;
    const onReport = (): void => {
      if (++reports === 3) abort.abort(REASON);
    };
    const error = await assertAborted(
      assess(new Uint8Array(10_000), { ...OPTIONS, signal: abort.signal, onReport }),
    );
    assert.deepEqual([reports, error.partial?.summary.sequences], [3, 3]);
  });

  it('ends a run whose workers compute for ever, and the workers', async () => {
    const code = `import { parentPort } from 'node:worker_threads';
      parentPort.on('message', ({ kernels }) => { if (kernels === undefined) for (;;); });`;
    const url = new URL(`data:text/javascript,${encodeURIComponent(code)}`);
    const ends: Promise<unknown>[] = [];
    let jobs = 0;
    const abort = new AbortController();
    const createWorker = (): SuiteWorker => {
      const worker = startWorker(url);
      const post = worker.postMessage;
      worker.postMessage = (message, transfer) => {
        post(message, transfer);
        if (transfer.length > 0 && ++jobs === 2) setTimeout(() => abort.abort(REASON), 20);
      };
      const { terminate } = worker;
      worker.terminate = () => {
        const end = Promise.resolve(terminate());
        ends.push(end);
        return end;
      };
      return worker;
    };
    const options = { ...OPTIONS, workers: 2, createWorker, signal: abort.signal };
    await assertAborted(assess(new Uint8Array(10_000), options));
    assert.equal(ends.length, 2);
    await Promise.all(ends);
  });

  it('does not wait for a worker that does not end', async () => {
    const abort = new AbortController();
    let terminated = false;
    const createWorker = (): SuiteWorker => ({
      onmessage: null,
      onerror: null,
      postMessage: () => setTimeout(() => abort.abort(REASON), 5),
      terminate: () => {
        terminated = true;
        return never();
      },
    });
    const options = { ...OPTIONS, workers: 1, createWorker, signal: abort.signal };
    await assertAborted(assess(new Uint8Array(10_000), options));
    assert.equal(terminated, true);
  });

  it('may have any reason', async () => {
    for (const [reason, message] of [
      ['stop', 'aborted: stop'],
      [null, 'aborted: null'],
      [Object.create(null), 'aborted: an object'],
      [7, 'aborted: 7'],
    ] as const) {
      const run = assess(new Uint8Array(1_000), { ...OPTIONS, signal: AbortSignal.abort(reason) });
      await assert.rejects(run, { code: 'aborted', message });
    }
  });
});
