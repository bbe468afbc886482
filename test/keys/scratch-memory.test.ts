/**
 * Nothing secret stays in memory after a key: neither in scratch buffers that are reused, nor in buffers that are dropped.
 * The test records every ArrayBuffer that the modules create and every buffer that a cipher returns, and searches them.
 */
import assert from 'node:assert/strict';
import { Cipheriv } from 'node:crypto';
import { describe, it, type TestContext } from 'node:test';
import type { CtrDrbg as DrbgType } from '../../src/drbg/index.ts';
import type { EntropySource } from '../../src/entropy/index.ts';
import type { Modulator as ModulatorType } from '../../src/modulation/index.ts';
import type { HmacKey as HmacKeyType } from '../../src/proof/index.ts';

const WINDOW_BYTES = 8;

/** Memory that the path of a key has created, also before this test. */
const recorded: Uint8Array[] = [];

const NativeArrayBuffer = globalThis.ArrayBuffer;
class Recorded extends NativeArrayBuffer {
  constructor(lengthBytes: number) {
    super(lengthBytes);
    recorded.push(new Uint8Array(this));
  }
}
const RecordedArrayBuffer = Recorded as unknown as ArrayBufferConstructor;

globalThis.ArrayBuffer = RecordedArrayBuffer;
// After the replacement, so that scratch memory which a module creates when it is loaded is recorded too.
const { CtrDrbg } = await import('../../src/drbg/index.ts');
const { condition } = await import('../../src/entropy/conditioning.ts');
const { MonitoredSource } = await import('../../src/entropy/monitored-source.ts');
const { allocatePool, PooledSource, PoolFiller } = await import('../../src/entropy/pool.ts');
const { generateKey } = await import('../../src/keys/generate.ts');
const { Generator } = await import('../../src/keys/generator.ts');
const { wipeKey } = await import('../../src/keys/key-receipt.ts');
const { SAMPLE_BYTES } = await import('../../src/keys/sample.ts');
const { Keyring, newMasterSecret } = await import('../../src/proof/index.ts');
const { deriveSubkey } = await import('../../src/proof/_subkeys.ts');
const { HmacKey } = await import('../../src/proof/index.ts');
const { Modulator } = await import('../../src/modulation/index.ts');
const { order } = await import('../support/servers/fakes.ts');
globalThis.ArrayBuffer = NativeArrayBuffer;

/** What HMAC XORs its key with, besides nothing: FIPS 198-1, ipad and opad. */
const MASKS = [0, 0x36, 0x5c];

/** Returns the names of the secrets of which 8 bytes are in recorded memory, as they are or as a key of HMAC. */
function found(secrets: ReadonlyMap<string, Buffer>): string[] {
  const memory = Buffer.concat(recorded.map((part) => Buffer.concat([part, Buffer.alloc(8)])));
  const holds = (bytes: Buffer, at: number) =>
    MASKS.some((mask) =>
      memory.includes(bytes.subarray(at, at + WINDOW_BYTES).map((byte) => byte ^ mask)),
    );
  return [...secrets].flatMap(([name, bytes]) => {
    for (let at = 0; at + WINDOW_BYTES <= bytes.length; at += WINDOW_BYTES) {
      if (holds(bytes, at)) return [name];
    }
    return [];
  });
}

/** Records the outputs of ciphers, and copies draws and outputs of the generator. */
function spy(t: TestContext): Map<string, Buffer> {
  const secrets = new Map<string, Buffer>();
  const note = (name: string, bytes: Uint8Array) =>
    secrets.set(`${name} ${secrets.size}`, Buffer.from(bytes));
  const { update } = Cipheriv.prototype;
  t.mock.method(Cipheriv.prototype, 'update', function (this: Cipheriv, data: Uint8Array) {
    const output = update.call(this, data as never, undefined as never, undefined as never);
    recorded.push(output as unknown as Buffer);
    return output;
  });
  const { generate } = CtrDrbg.prototype;
  t.mock.method(CtrDrbg.prototype, 'generate', function (this: DrbgType, length: number) {
    const output = generate.call(this, length);
    note('output of the DRBG', output);
    return output;
  });
  const { draw } = MonitoredSource.prototype;
  t.mock.method(MonitoredSource.prototype, 'draw', function (this: EntropySource) {
    const drawn = draw.call(this as InstanceType<typeof MonitoredSource>);
    note('draw', drawn.bytes);
    return drawn;
  });
  return secrets;
}

/** Starts a generator and a keyring, whose memory is recorded until the test ends. */
function startRecorded(t: TestContext) {
  globalThis.ArrayBuffer = RecordedArrayBuffer;
  const keyring = new Keyring([{ version: 1, secret: Buffer.alloc(32, 9) }]);
  const generator = Generator.start({ names: ['os'], mix: [], pools: [] });
  t.after(() => {
    globalThis.ArrayBuffer = NativeArrayBuffer;
    generator.close();
    keyring.destroy();
  });
  return { keyring, generator };
}

describe('memory after a key', () => {
  for (const [securityLevel, receipt] of [
    [128, true],
    [256, false],
    [384, true],
  ] as const) {
    it(`holds no secret of ${securityLevel} bits, ${receipt ? 'with' : 'without'} a receipt`, (t) => {
      const { keyring, generator } = startRecorded(t);
      const secrets = spy(t);
      const tally = { streams: 0, streamsPassed: 0 };
      for (let i = 0; i < 2; i++) {
        const generated = generateKey(
          generator,
          keyring,
          order({ securityLevel, receipt }),
          tally,
          true,
        );
        secrets.set(`key ${i}`, Buffer.from(generated.key));
        if (generated.opening) secrets.set(`opening ${i}`, Buffer.from(generated.opening));
        assert.ok(found(secrets).includes(`key ${i}`), 'the search finds a key that is not wiped');
        wipeKey(generated);
        assert.deepEqual(found(secrets), []);
      }
      assert.ok(secrets.size >= 2 * 4);
    });
  }

  it('holds no sample of a key with evidence', (t) => {
    const { keyring, generator } = startRecorded(t);
    const before = recorded.length;
    const tally = { streams: 0, streamsPassed: 0 };
    wipeKey(generateKey(generator, keyring, order({ withEvidence: true }), tally, true));
    const samples = recorded.slice(before).filter(({ length }) => length === SAMPLE_BYTES);
    assert.equal(samples.length, 2, 'the sample, and the modulated one');
    assert.ok(samples.every((sample) => sample.every((byte) => byte === 0)));
  });

  it('holds no secret of a key that is refused, nor its opening', (t) => {
    const { keyring, generator } = startRecorded(t);
    const secrets = spy(t);
    const { setKey } = HmacKey.prototype;
    t.mock.method(HmacKey.prototype, 'setKey', function (this: HmacKeyType, key: Uint8Array) {
      secrets.set('opening', Buffer.from(key));
      setKey.call(this, key);
    });
    const { demodulateInPlace } = Modulator.prototype;
    t.mock.method(
      Modulator.prototype,
      'demodulateInPlace',
      function (this: ModulatorType, ...all: [Buffer, number]) {
        secrets.set('key', Buffer.from(all[0]));
        demodulateInPlace.apply(this, all);
        all[0][0] ^= 1;
      },
    );
    const wish = order({ receipt: true });
    const make = () =>
      generateKey(generator, keyring, wish, { streams: 0, streamsPassed: 0 }, true);
    assert.throws(make, /not available/);
    assert.ok(secrets.has('opening') && secrets.has('key'));
    assert.deepEqual(found(secrets), []);
  });

  it('holds nothing of a keyring that was destroyed', () => {
    const before = recorded.length;
    globalThis.ArrayBuffer = RecordedArrayBuffer;
    const keyring = new Keyring([
      { version: 1, secret: Buffer.alloc(32, 9) },
      { version: 2, secret: Buffer.alloc(32, 8) },
    ]);
    keyring.makeProof(Buffer.alloc(32, 7));
    globalThis.ArrayBuffer = NativeArrayBuffer;
    const created = recorded.slice(before);
    const inUse = created.filter((part) => part.some((byte) => byte !== 0));
    assert.equal(inUse.length, 16, 'two blocks for each of four uses and two versions');
    keyring.destroy();
    assert.ok(created.every((part) => part.every((byte) => byte === 0)));
  });
});

describe('memory of a secret', () => {
  const secret = { version: 1, secret: Buffer.alloc(32, 9) };
  const takeDraw = () => {
    const pool = {
      name: 'device',
      kind: 'noise',
      creditBitsPerDraw: 0,
      isSeparate: false,
    } as const;
    const memory = allocatePool(2);
    const filler = new PoolFiller(memory);
    filler.put(Buffer.alloc(32, 5), null);
    filler.setState('delivering');
    return new PooledSource({ ...pool, memory }).draw().bytes;
  };
  for (const [name, make] of [
    ['conditioned noise', () => condition(Buffer.alloc(64, 1))],
    ['a draw from a pool', takeDraw],
    ['a subkey', () => deriveSubkey(secret, 'proof')],
    ['a new master secret', newMasterSecret],
  ] as const) {
    it(`is outside V8's heap, which moves what it holds: ${name}`, () => {
      const before = recorded.length;
      globalThis.ArrayBuffer = RecordedArrayBuffer;
      const bytes = make();
      globalThis.ArrayBuffer = NativeArrayBuffer;
      const created = recorded.slice(before).map(({ buffer }) => buffer);
      assert.ok(created.includes(bytes.buffer as ArrayBuffer));
    });
  }
});
