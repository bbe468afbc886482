/** `assess` and `openReader` on sources of every kind, and on what is none. */
import assert from 'node:assert/strict';
import { createReadStream, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { createServer, get } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough, Readable } from 'node:stream';
import { after, describe, it } from 'node:test';
import { runInNewContext } from 'node:vm';
import { createGunzip, gzipSync } from 'node:zlib';
import { AssessError, assess, openReader, type Source } from '../../src/index-node.ts';

const FOLDER = mkdtempSync(join(tmpdir(), 'phm-sources-'));
const FILE = join(FOLDER, 'sample.bin');
const MISSING = join(FOLDER, 'missing.bin');
after(() => rmSync(FOLDER, { recursive: true }));

const BYTES = Uint8Array.from({ length: 1_000 }, (_, i) => (i * i * 31 + (i >>> 3) * 77) & 255);
const BUFFER = BYTES.buffer;
const OPTIONS = { bits: 1_000, workers: 0, tests: ['frequency'] as const };
writeFileSync(FILE, BYTES);

function shared(): SharedArrayBuffer {
  const buffer = new SharedArrayBuffer(BYTES.length);
  new Uint8Array(buffer).set(BYTES);
  return buffer;
}

function chunks(): Uint8Array[] {
  return [0, 300, 300, 901].map((at, i, all) => BYTES.slice(at, all[i + 1] ?? BYTES.length));
}

async function* iterable(values: readonly unknown[]): AsyncGenerator<never> {
  for (const value of values) yield value as never;
}

function webStream(values: readonly unknown[], type?: 'bytes'): ReadableStream<Uint8Array> {
  const queue = [...values];
  const pull = (controller: ReadableStreamDefaultController<unknown>): void => {
    if (queue.length === 0) controller.close();
    else controller.enqueue(queue.shift() as never);
  };
  return new ReadableStream({ pull, ...(type && { type }) } as never);
}

/** Answers with the bytes, compressed for the path `/gzip`. */
async function httpBody(path: string): Promise<Readable> {
  const server = createServer(({ url }, response) => {
    response.end(url === '/gzip' ? gzipSync(BYTES) : BYTES);
    server.close();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return new Promise((resolve) => get({ host: '127.0.0.1', port, path, agent: false }, resolve));
}

const KINDS: Readonly<Record<string, () => Source | Promise<Source>>> = {
  'a Buffer': () => Buffer.from(BYTES),
  'an ArrayBuffer': () => BUFFER,
  'a SharedArrayBuffer': shared,
  'a view of shared bytes': () => new Uint8Array(shared()),
  'a DataView within a buffer': () => {
    const padded = new Uint8Array(BYTES.length + 7);
    padded.set(BYTES, 3);
    return new DataView(padded.buffer, 3, BYTES.length);
  },
  'an Int8Array': () => new Int8Array(BUFFER),
  'a Uint8ClampedArray': () => new Uint8ClampedArray(BUFFER),
  'bytes of another realm': () =>
    runInNewContext('Uint8Array.from(bytes)', { bytes: BYTES }) as Uint8Array,
  'a Blob': () => new Blob([BYTES]),
  'a File': () => new File([BYTES], 'sample.bin'),
  'the stream of a Blob': () => new Blob([BYTES]).stream(),
  'the body of a response': () => new Response(BYTES).body as ReadableStream<Uint8Array>,
  'a web stream with an empty chunk': () => webStream(chunks()),
  'a byte stream': () =>
    webStream(
      chunks().filter(({ length }) => length > 0),
      'bytes',
    ),
  'a web stream of buffers': () => webStream(chunks().map(({ buffer }) => buffer)),
  'an async iterable': () => iterable(chunks()),
  'an async iterable of buffers and views': () => {
    const [first, empty, middle, last] = chunks();
    return iterable([first?.buffer, empty, new DataView((middle as Uint8Array).buffer), last]);
  },
  'an iterable without return': () => {
    const rest = chunks();
    const next = async () => ({ done: rest.length === 0, value: rest.shift() as Uint8Array });
    return { [Symbol.asyncIterator]: () => ({ next }) } as AsyncIterable<Uint8Array>;
  },
  'a file stream': () => createReadStream(FILE, { highWaterMark: 77 }),
  'a PassThrough': () => {
    const stream = new PassThrough();
    for (const chunk of chunks()) stream.write(chunk);
    stream.end();
    return stream;
  },
  'a Readable of chunks': () => Readable.from(chunks()),
  'the body of an HTTP response': () => httpBody('/'),
  'a compressed HTTP response': async () => (await httpBody('/gzip')).pipe(createGunzip()),
  'a web stream of a Node stream': () =>
    Readable.toWeb(createReadStream(FILE)) as ReadableStream<Uint8Array>,
  'a byte source without promises': () => {
    let at = 0;
    const read = (into: Uint8Array): number => {
      const part = BYTES.subarray(at, at + Math.min(7, into.length));
      into.set(part);
      at += part.length;
      return part.length;
    };
    return { sizeBytes: BYTES.length, read, close: () => {} } as never;
  },
};

describe('a source', () => {
  const expected = assess(BYTES, OPTIONS);
  for (const [kind, make] of Object.entries(KINDS)) {
    it(`may be ${kind}`, async () => {
      const { summary, trace } = await assess(await make(), OPTIONS);
      const { sha256 } = (await expected).trace.input;
      assert.deepEqual([summary.sequences, trace.input.sha256], [8, sha256]);
    });
  }

  it('of Node is ended by a run that does not read all of it', async () => {
    let pushed = 0;
    const endless = new Readable({
      read() {
        pushed++;
        this.push(new Uint8Array(1_000));
      },
    });
    await assess(endless, { ...OPTIONS, format: 'binary', sequences: 3 });
    assert.equal(endless.destroyed, true);
    // Back-pressure: the buffer of the stream, not more, is read ahead.
    assert.ok(pushed < 100, String(pushed));
  });

  it('of the web is cancelled by a run that does not read all of it', async () => {
    let cancelled = false;
    const pull = (controller: ReadableStreamDefaultController<Uint8Array>): void =>
      controller.enqueue(new Uint8Array(1_000));
    const cancel = (): void => {
      cancelled = true;
    };
    const stream = new ReadableStream({ pull, cancel });
    await assess(stream, { ...OPTIONS, format: 'binary', sequences: 3 });
    assert.equal(cancelled, true);
  });

  it('that is an iterable is returned by a run that does not read all of it, and by no other', async () => {
    let returned = 0;
    const endless = {
      next: async () => ({ done: false as const, value: BYTES }),
      return: async () => ({ done: true as const, value: ++returned }),
    };
    const source = { [Symbol.asyncIterator]: () => endless } as AsyncIterable<Uint8Array>;
    await assess(source, { ...OPTIONS, sequences: 3 });
    assert.equal(returned, 1);
    await assess(
      {
        [Symbol.asyncIterator]: () => ({
          ...iterable([BYTES]),
          next: nextOf([BYTES]),
          return: endless.return,
        }),
      },
      OPTIONS,
    );
    assert.equal(returned, 1);
  });
});

function nextOf(values: Uint8Array[]): () => Promise<IteratorResult<Uint8Array>> {
  const rest = [...values];
  return async () => {
    const value = rest.shift();
    return value ? { done: false, value } : { done: true, value: undefined };
  };
}

const FAULT = new TypeError('the cable is out');

function failingStream(): Readable {
  const stream = new PassThrough();
  stream.write(BYTES);
  setImmediate(() => stream.destroy(FAULT));
  return stream;
}

/** Sources that fail by themselves. */
const FAILING: Readonly<Record<string, () => Source>> = {
  'a file that is missing': () => createReadStream(MISSING),
  'a stream of Node that fails': failingStream,
  'a stream of Node that failed before': () => new PassThrough().destroy(FAULT),
  'gzip that is damaged': () =>
    Readable.from([gzipSync(BYTES).subarray(0, 500)]).pipe(createGunzip()),
  'a stream of Node that is cut off': () => {
    const stream = new PassThrough();
    stream.write(BYTES);
    setImmediate(() => stream.destroy());
    return stream;
  },
  'a stream of the web that fails': () =>
    new ReadableStream({
      pull: () => {
        throw FAULT;
      },
    }),
  'an iterable that throws': async function* () {
    yield BYTES;
    throw FAULT;
  } as unknown as () => Source,
  'an iterable that throws no error': async function* () {
    yield BYTES;
    await Promise.reject(null);
  } as unknown as () => Source,
  'a blob that cannot be read': () => ({
    size: 1_000,
    slice: () => ({ arrayBuffer: () => Promise.reject(FAULT) }),
  }),
  'a blob that became shorter': () => ({
    size: 1_000,
    slice: () => ({ arrayBuffer: async () => new ArrayBuffer(10) }),
  }),
  'a byte source that throws': () => ({
    sizeBytes: undefined,
    read: () => {
      throw FAULT;
    },
    close: async () => {},
  }),
};

describe('a source that fails', () => {
  for (const [kind, make] of Object.entries(FAILING)) {
    it(`is unreadable: ${kind}`, async () => {
      const error = await assess(make(), { ...OPTIONS, bits: null }).catch((one: unknown) => one);
      assert.ok(error instanceof AssessError, String(error));
      assert.equal(error.code, 'unreadable');
      if (kind.includes('that fails')) assert.equal(error.cause, FAULT);
    });
  }

  it('does not end the process before it is read', async () => {
    const reader = openReader(createReadStream(MISSING));
    await new Promise((resolve) => setTimeout(resolve, 20));
    await assert.rejects(reader.readSequence(8), { code: 'unreadable', message: /ENOENT/ });
    await reader.close();
  });
});

async function ended(): Promise<Readable> {
  const stream = createReadStream(FILE);
  for await (const _ of stream);
  return stream;
}

function locked(): ReadableStream<Uint8Array> {
  const stream = webStream(chunks());
  stream.getReader();
  return stream;
}

function given<T extends Source>(source: T): T {
  openReader(source);
  return source;
}

const count = (value: unknown, sizeBytes?: unknown): unknown => ({
  sizeBytes,
  read: async () => value,
  close: async () => {},
});

/** What is no source, and the end of the message. */
const WRONG: readonly (readonly [make: () => unknown, message: RegExp])[] = [
  [() => undefined, /got undefined$/],
  [() => null, /got null$/],
  [() => 1, /got number$/],
  [() => 2n, /got bigint$/],
  [() => true, /got boolean$/],
  [() => Symbol('s'), /got symbol$/],
  [() => 'sample.bin', /got string: give "new TextEncoder\(\).encode\(text\)"/],
  [() => 'x'.repeat(1_000), /got string: give/],
  [() => iterable, /got function: give what it returns$/],
  [() => [1, 2, 3], /got an array of 3: give "Uint8Array.from\(array\)"/],
  [() => ({}), /got an object$/],
  [() => Object.create(null), /got an object$/],
  [() => new Map(), /got a Map$/],
  [() => new URL('file:///sample.bin'), /got an URL$/],
  [() => new Response(BYTES), /got a Response: give its "body"$/],
  [() => new TransformStream(), /got a TransformStream: give its "readable"$/],
  [() => new Uint16Array(4), /got an Uint16Array, whose elements have 2 bytes .* DataView$/],
  [() => new Float64Array(4), /whose elements have 8 bytes/],
  [() => new BigUint64Array(4), /whose elements have 8 bytes/],
  [() => structuredCloned(), /got an ArrayBuffer that was transferred$/],
  [ended, /got a stream that has ended$/],
  [() => new PassThrough().destroy(), /got a stream that has ended$/],
  [() => given(new PassThrough()), /got one that was given before$/],
  [() => given(iterable([])), /got one that was given before$/],
  [() => given(count(0) as Source), /got one that was given before$/],
  [locked, /got one that is locked to a reader$/],
  [() => ({ [Symbol.asyncIterator]: () => 1 }), /got one whose iterator has no "next"$/],
  [() => iterable(['01']), /expected chunks of bytes, got string: leave the encoding/],
  [() => iterable([[1]]), /expected chunks of bytes, got an array of 1$/],
  [() => iterable([undefined]), /expected chunks of bytes, got undefined$/],
  [() => iterable([new Uint32Array(1)]), /whose elements have 4 bytes/],
  [() => webStream([{}]), /expected chunks of bytes, got an object$/],
  [() => createReadStream(FILE, 'latin1'), /expected chunks of bytes, got string.*encoding/],
  [() => Readable.from([{}]), /expected chunks of bytes, got an object$/],
  [() => count(-1), /^"source.read" expected a count from 0 to \d+, got -1$/],
  [() => count(0.5), /expected a count from 0 to \d+, got 0.5$/],
  [() => count(Number.NaN), /got NaN$/],
  [() => count(2 ** 53), /got 9007199254740992$/],
  [() => count('1'), /got "1"$/],
  [() => count(undefined), /got undefined$/],
  [() => count({ bytesRead: 1 }), /got an object$/],
  [() => count(0, -1), /^"source.sizeBytes" expected a number of bytes or undefined, got -1$/],
  [() => count(0, null), /or undefined, got null$/],
];

function structuredCloned(): ArrayBuffer {
  const buffer = new ArrayBuffer(8);
  structuredClone(buffer, { transfer: [buffer] });
  return buffer;
}

describe('what is no source', () => {
  for (const [make, message] of WRONG) {
    it(`is refused: ${message.source}`, async () => {
      const options = { ...OPTIONS, format: 'binary' } as const;
      await assert.rejects(assess((await make()) as Source, options), {
        name: 'TypeError',
        message,
      });
    });
  }

  it('is refused: the handle of a file', async () => {
    const handle = await open(FILE);
    await assert.rejects(
      assess(handle as never),
      /FileHandle: give "handle.createReadStream\(\)"$/,
    );
    await handle.close();
  });

  it('may throw an error of its own', async () => {
    const own = new Error('mine');
    const source = new Proxy(
      {},
      {
        get: () => {
          throw own;
        },
        has: () => {
          throw own;
        },
      },
    );
    await assert.rejects(assess(source as never), own);
  });
});
