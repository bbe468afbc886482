import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { EntropySource } from '../../src/entropy/index.ts';
import { openOsSource } from '../../src/entropy/sources/os.ts';
import { gatherEvidence } from '../../src/keys/evidence.ts';
import { generateKey, sampleStream } from '../../src/keys/generate.ts';
import { entropyUnavailable, Generator } from '../../src/keys/generator.ts';
import { Latch } from '../../src/keys/latch.ts';
import type { KeyOrder } from '../../src/keys/order.ts';
import { screenLiveCarrier } from '../../src/keys/self-test.ts';
import { MODULATION_TYPES, Modulator } from '../../src/modulation/index.ts';
import { aesCtr } from '../support/lab/aes-stream.ts';
import {
  fakeGenerator,
  fakeSource,
  keyring,
  order,
  parts,
  RecordingDrbg,
  SAMPLE_RESEEDS,
  SCREEN_REQUESTS,
  SCREEN_RESEEDS,
  SEGMENT_BYTES,
  STAGED,
  sampleRequests,
  sampleVerdict,
} from '../support/servers/fakes.ts';

const tally = () => ({ streams: 0, streamsPassed: 0 });

/** Biases a buffer in place: each bit becomes one with probability 3/4. */
function bias(output: Buffer): void {
  for (let i = 0; i + 1 < output.length; i += 1) output[i] |= output[i + 1];
}

/** Returns independent bits that are ones with probability `p`, the same in every run. */
function independentBits(p: number, lengthBits: number): Buffer {
  const uniform = aesCtr(Buffer.alloc(32, 1), 2 * lengthBits);
  const bytes = Buffer.alloc(lengthBits / 8);
  for (let i = 0; i < lengthBits; i++) {
    if (uniform.readUInt16BE(2 * i) < p * 65_536) bytes[i >> 3] |= 0x80 >> (i & 7);
  }
  return bytes;
}

function make(
  drbg: RecordingDrbg,
  changes: Partial<KeyOrder>,
  credits: [number, number] = [256, 0],
) {
  const generator = fakeGenerator(drbg, ...credits);
  const counts = tally();
  const before = drbg.reseeds;
  const generated = generateKey(generator, keyring, order(changes), counts);
  return { generated, counts, reseeds: drbg.reseeds - before, generator };
}

describe('sampleStream', () => {
  it('returns with `none` the bits that the suite judges, otherwise their modulation', () => {
    const drbg = new RecordingDrbg();
    const generator = fakeGenerator(drbg);
    for (const modulation of ['none', 'phase'] as const) {
      const sample = sampleStream(generator, modulation);
      const expectedRequests = [...sampleRequests(32), 64];
      assert.deepEqual(drbg.requests.slice(-expectedRequests.length), expectedRequests);
      const carrier = drbg.copies.slice(-expectedRequests.length);
      const phases = carrier.pop() ?? assert.fail();
      const expected = new Modulator(modulation, phases).modulate(Buffer.concat(carrier), 0);
      assert.deepEqual(sample, expected);
      if (modulation === 'none') assert.deepEqual(sample, Buffer.concat(carrier));
    }
  });
});

describe('generate', () => {
  it('reseeds before every key, then draws the phases and the key', () => {
    const drbg = new RecordingDrbg();
    const { reseeds } = make(drbg, { securityLevel: 256 });
    assert.equal(reseeds, 1);
    assert.deepEqual(drbg.requests, [...SCREEN_REQUESTS, 64, 32]);
  });

  it('cuts a 384-bit key from two halves, each after its own reseed', () => {
    const drbg = new RecordingDrbg();
    const { reseeds, generated } = make(drbg, { securityLevel: 384 });
    assert.equal(reseeds, 2);
    assert.deepEqual(drbg.requests, [...SCREEN_REQUESTS, 64, 24, 24]);
    assert.equal(generated.key.length, 48);
  });

  it('draws the sample in segments after a reseed each, then the phases, then the key', () => {
    const drbg = new RecordingDrbg();
    const { reseeds } = make(drbg, { securityLevel: 128, withEvidence: true });
    assert.equal(reseeds, SAMPLE_RESEEDS);
    assert.deepEqual(drbg.requests, [...SCREEN_REQUESTS, ...sampleRequests(16), 64, 16]);
  });

  it('modulates by the definition: word t of the stream with phases from its own request', () => {
    for (const withEvidence of [false, true]) {
      for (const securityLevel of [128, 256, 384] as const) {
        const drbg = new RecordingDrbg();
        const { generated } = make(drbg, { securityLevel, withEvidence });
        const sample = withEvidence ? sampleRequests(32).length : 0;
        const [phases, ...carriers] = drbg.copies.slice(SCREEN_REQUESTS.length + sample);
        const carrier = Buffer.concat(carriers);
        const modulator = new Modulator('phase', phases);
        const expected = modulator.modulate(carrier, withEvidence ? 16_384 : 0);
        assert.deepEqual(Buffer.from(generated.key), expected);
      }
    }
  });

  it('wipes carrier, phases and sample', () => {
    const drbg = new RecordingDrbg();
    make(drbg, { securityLevel: 384, withEvidence: true });
    for (const [i, output] of drbg.outputs.entries()) {
      assert.ok(
        output.every((byte) => byte === 0),
        `output ${i} of ${output.length} bytes is not wiped`,
      );
    }
  });

  it('wipes the seed material of every reseed', () => {
    const drbg = new RecordingDrbg();
    make(drbg, { securityLevel: 384 });
    assert.equal(drbg.seeds.length, SCREEN_RESEEDS + 2);
    for (const seed of drbg.seeds) assert.ok(seed.every((byte) => byte === 0));
  });

  it('separates every reseed by its additional input', () => {
    const drbg = new RecordingDrbg();
    make(drbg, { securityLevel: 384, withEvidence: true });
    for (const input of drbg.additionalInputs) assert.equal(input.length, 96);
    assert.equal(new Set(drbg.additionalInputs).size, drbg.reseeds);
    const other = new RecordingDrbg();
    make(other, { securityLevel: 384, withEvidence: true });
    // Sources and calls are the same: only clock and counter differ.
    const all = [...drbg.additionalInputs, ...other.additionalInputs];
    assert.equal(new Set(all).size, drbg.reseeds + other.reseeds);
  });

  it('returns a proof and a commitment of the key', () => {
    const { generated } = make(new RecordingDrbg(), {});
    assert.ok(keyring.verifyProof(generated.key, generated.hashProof));
    assert.deepEqual(generated.commitment, keyring.commit(generated.key));
  });

  it('credits h · min(level, credit), with at most 256 bits from the system source', () => {
    const cases: [128 | 256 | 384, [number, number], number][] = [
      [128, [256, 0], 128],
      [256, [256, 0], 256],
      [384, [256, 0], 256],
      [384, [256, 192], 384],
      [384, [256, 64], 384],
      [384, [256, 32], 320],
      [256, [64, 0], 64],
      [384, [0, 0], 0],
    ];
    for (const [securityLevel, credits, credited] of cases) {
      const changes = { securityLevel, source: 'ibm-quantum' } as const;
      const { generated, generator } = make(new RecordingDrbg(), changes, credits);
      const expected = Math.floor(generator.screen * credited * 100) / 100;
      assert.equal(generated.entropyBits, expected, `${securityLevel} bits of ${credits}`);
    }
  });

  it('states the key’s length as its strength, or the generator’s strength if lower', () => {
    const cases: [128 | 256 | 384, number, number][] = [
      [128, 256, 128],
      [256, 256, 256],
      [384, 256, 256],
      [256, 192, 192],
      [128, 192, 128],
    ];
    for (const [securityLevel, strengthBits, expected] of cases) {
      const generator = new Generator(parts({ strengthBits }));
      generator.takeScreen();
      const made = generateKey(generator, keyring, order({ securityLevel }), tally());
      assert.equal(made.securityStrengthBits, expected, `${securityLevel} of ${strengthBits}`);
    }
  });

  it('credits no entropy on Windows, where no draw reads the kernel, but states the strength', () => {
    const generator = new Generator(parts({ os: openOsSource('win32') }));
    generator.takeScreen();
    for (const [securityLevel, strength] of [
      [128, 128],
      [256, 256],
      [384, 256],
    ] as const) {
      const made = generateKey(generator, keyring, order({ securityLevel }), tally());
      assert.deepEqual([made.entropyBits, made.securityStrengthBits], [0, strength]);
    }
    generator.close();
  });

  it('credits a source of the mix to every key, and nothing while the source is empty', () => {
    const mixed = fakeSource('qrng', 192);
    const refuse = () => {
      throw entropyUnavailable('staged');
    };
    const empty = { ...fakeSource('device', 192), draw: refuse };
    const cases: [EntropySource[], 256 | 384, number][] = [
      [[mixed], 384, 384],
      [[mixed], 256, 256],
      [[empty], 384, 256],
      [[empty, mixed], 384, 384],
    ];
    for (const [mix, securityLevel, credited] of cases) {
      const generator = new Generator(parts({ mix }));
      generator.takeScreen();
      const { entropyBits } = generateKey(generator, keyring, order({ securityLevel }), tally());
      assert.equal(entropyBits, Math.floor(generator.screen * credited * 100) / 100);
    }
  });

  it('draws once from a source that is both named and in the mix', () => {
    const jitter = fakeSource('jitter', 192);
    const extras = new Map([[jitter.name, jitter]]);
    const generator = new Generator(parts({ extras, mix: [jitter] }));
    generateKey(generator, keyring, order({ source: 'jitter' }), tally());
    assert.equal(jitter.draws, 1);
  });

  it('names both jobs if the halves of a key used different ones', () => {
    const hardware = fakeSource('ibm-quantum', 0);
    const numbered = {
      ...hardware,
      draw: () => ({ ...hardware.draw(), jobId: `job-${hardware.draws}` }),
    };
    const make384 = (source: EntropySource) => {
      const extras = new Map([[source.name, source]]);
      const generator = new Generator(parts({ extras }));
      const changes = { securityLevel: 384, source: 'ibm-quantum' } as const;
      return generateKey(generator, keyring, order(changes), tally()).entropyJobId;
    };
    assert.equal(make384(numbered), 'job-1,job-2');
    assert.equal(make384(fakeSource('ibm-quantum', 0, 'job-7')), 'job-7');
  });

  it('names the job of the source that took part, otherwise none', () => {
    assert.equal(make(new RecordingDrbg(), {}).generated.entropyJobId, null);
    const { generated } = make(new RecordingDrbg(), { source: 'ibm-quantum' });
    assert.equal(generated.entropyJobId, 'job-1');
  });

  it('counts a tested stream and reports the suite’s results', () => {
    const { generated, counts } = make(new RecordingDrbg(), { withEvidence: true });
    assert.deepEqual(counts, { streams: 1, streamsPassed: 1 });
    assert.ok((generated.evidence?.gateP ?? 0) > 1e-6);
    assert.ok((generated.evidence?.totalTests ?? 0) >= 13);
  });
});

describe('generate with a defective generator', () => {
  const unavailable = { name: 'AppError', code: 'entropy_unavailable' };

  it('drops a stream that fails the gate and takes the next one', () => {
    const drbg = new RecordingDrbg((output, reseeds) => {
      const isFirst = reseeds > SCREEN_RESEEDS && reseeds <= SCREEN_RESEEDS + SAMPLE_RESEEDS;
      if (isFirst && output.length > 64) output.fill(0x55);
    });
    const { generated, counts, generator } = make(drbg, { withEvidence: true });
    assert.deepEqual(counts, { streams: 2, streamsPassed: 1 });
    assert.equal(generated.key.length, 32);
    assert.equal(generator.latched, null);
  });

  it('latches after two failed streams in a row and releases no key afterwards', () => {
    const drbg = new RecordingDrbg((output, reseeds) => {
      if (reseeds > SCREEN_RESEEDS && output.length > 64) bias(output);
    });
    const generator = fakeGenerator(drbg);
    const counts = tally();
    const wish = order({ withEvidence: true, modulation: 'none' });
    assert.throws(() => generateKey(generator, keyring, wish, counts), unavailable);
    assert.deepEqual(counts, { streams: 2, streamsPassed: 0 });
    assert.equal(generator.latched?.cause, 'gate');
    assert.equal(generator.latched.test, 'frequency');
    assert.ok(drbg.destroyed);
    assert.throws(() => generateKey(generator, keyring, order(), tally()), unavailable);
  });

  it('detects a broken carrier that phase modulation hides from the whole suite', () => {
    const phases = Buffer.from(Array.from({ length: 64 }, (_, i) => (i * 37 + 11) & 0xff));
    const words = independentBits(0.5, 2 ** 19);
    const twice = Buffer.alloc(2 ** 17);
    for (let i = 0; i < words.length; i++) twice.fill(words[i] ?? 0, 2 * i, 2 * i + 2);
    for (const carrier of [independentBits(0.6, 2 ** 20), twice]) {
      const modulated = new Modulator('phase', phases).modulate(carrier, 0);
      assert.equal(gatherEvidence(modulated, null).passed, true, 'hidden');
      assert.equal(gatherEvidence(carrier, modulated).passed, false);
    }
  });

  it('reports the lower min-entropy of carrier and modulated stream', () => {
    const [biased, sound] = [independentBits(0.6, 2 ** 20), independentBits(0.5, 2 ** 20)];
    for (const [carrier, modulated] of [
      [biased, sound],
      [sound, biased],
    ] as const) {
      const { passed, screen } = gatherEvidence(carrier, modulated);
      assert.equal(passed, false);
      assert.ok(screen < -Math.log2(0.599), `${screen}`);
    }
  });

  it('detects a modulation that breaks a sound carrier, and names test and stream', () => {
    const carrier = independentBits(0.5, 2 ** 20);
    const modulated = Buffer.from(carrier);
    for (let i = 0; i < modulated.length; i += 8) modulated[i] = modulated[i] & 0x7f;
    const { passed, summary, gate } = gatherEvidence(carrier, modulated);
    assert.equal(passed, false);
    assert.equal(summary.testsPassed, summary.totalTests, 'the carrier is sound');
    assert.equal(summary.complianceLevel, 'NON_COMPLIANT');
    assert.equal(gate.weakest.report, 1);
  });

  it('latches if the startup sample is biased', () => {
    const generator = fakeGenerator(new RecordingDrbg(bias));
    assert.match(generator.latched?.detail ?? '', /screened sample/);
    assert.throws(() => generateKey(generator, keyring, order(), tally()), unavailable);
  });

  it('needs a sample after 4,096 reseeds, and latches on a bias that appeared since', () => {
    const drbg = new RecordingDrbg((output, reseeds) => {
      if (reseeds > SCREEN_RESEEDS + 4_096) bias(output);
    });
    const generator = fakeGenerator(drbg);
    const sampled = () => drbg.requests.filter((length) => length === SEGMENT_BYTES).length / 7;
    for (let i = 0; i < 4_096; i++) {
      assert.equal(generator.isSampleDue, false);
      generator.reseed('os');
    }
    assert.equal(sampled(), 1);
    assert.equal(generator.isSampleDue, true);
    screenLiveCarrier(generator);
    assert.equal(sampled(), 2);
    assert.match(generator.latched?.detail ?? '', /screened sample/);
  });

  it('draws the screened sample on retry if the first attempt found no entropy', () => {
    const drbg = new RecordingDrbg();
    const os = fakeSource('os', 256);
    let fails = false;
    const draw = () => {
      if (fails) throw entropyUnavailable('staged');
      return os.draw();
    };
    const generator = new Generator(parts({ drbg, os: { ...os, draw } }));
    generator.takeScreen();
    for (let i = 0; i < 4_096; i++) generator.reseed('os');
    fails = true;
    assert.throws(() => generator.takeScreen(), unavailable);
    fails = false;
    assert.deepEqual(drbg.requests, SCREEN_REQUESTS);
    assert.equal(generator.isSampleDue, true);
    generator.takeScreen();
    assert.deepEqual(drbg.requests, [...SCREEN_REQUESTS, ...SCREEN_REQUESTS]);
  });

  it('latches on a sample of 51 % ones, with 0.97 bits of min-entropy per bit', () => {
    const noise = independentBits(0.51, 2 ** 20);
    let at = 0;
    const drbg = new RecordingDrbg((output) => {
      output.set(noise.subarray(at, at + output.length));
      at += output.length;
    });
    const generator = fakeGenerator(drbg);
    assert.match(generator.latched?.detail ?? '', /screened sample/);
  });

  it('draws nothing from the mix for a screened sample', () => {
    const jitter = fakeSource('jitter', 192);
    new Generator(parts({ mix: [jitter] })).takeScreen();
    assert.equal(jitter.draws, 0);
  });

  it('runs the known answer tests of the modulation with those of the DRBG', (t) => {
    const generator = Generator.start({ names: ['os'], mix: [], pools: [] });
    generator.takeScreen();
    assert.deepEqual([generator.latched], [null]);
    t.mock.method(Modulator.prototype, 'modulate', (carrier: Uint8Array) =>
      Buffer.alloc(carrier.length),
    );
    generator.takeScreen();
    assert.equal(generator.latched?.cause, 'self_test');
    assert.equal(generator.latched?.test, 'modulation: known answer, phase');
    generator.close();
  });

  it('enters the error state if a self-test of the DRBG fails (SP 800-90A §11.3.6.2)', () => {
    const drbg = new RecordingDrbg();
    const answers = [true, false].map((passed) => [{ name: 'known answer', passed }]);
    const knownAnswers = () => answers.shift() ?? assert.fail('a third run');
    const generator = new Generator(parts({ drbg, knownAnswers }));
    generator.takeScreen();
    const before = drbg.requests.length;
    generator.takeScreen();
    assert.throws(() => generateKey(generator, keyring, order(), tally()), unavailable);
    assert.equal(drbg.requests.length, before, 'nothing was asked of the DRBG any more');
    assert.ok(drbg.destroyed);
    assert.deepEqual(generator.latched, {
      cause: 'self_test',
      test: 'known answer',
      detail: 'failed: known answer',
    });
  });

  it('latches on a key whose carrier fails the exact tests, under any modulation', () => {
    for (const modulation of MODULATION_TYPES) {
      for (const securityLevel of [128, 256, 384] as const) {
        const drbg = new RecordingDrbg((output, reseeds) => {
          if (reseeds > SCREEN_RESEEDS && output.length < 64) output.fill(0);
        });
        const generator = fakeGenerator(drbg);
        const wish = order({ modulation, securityLevel });
        assert.throws(() => generateKey(generator, keyring, wish, tally()), unavailable);
        assert.equal(generator.latched?.cause, 'key_test');
        assert.equal(generator.latched?.test, 'ones');
      }
    }
  });

  it('detects an identical start of each key request, which long requests hide', () => {
    const head = independentBits(0.5, 8 * 16);
    const fixed = (length: number, headBytes: number, soundReseeds: number) =>
      new RecordingDrbg((output, reseeds) => {
        if (reseeds <= soundReseeds || output.length !== length) return;
        output.set(head.subarray(0, headBytes));
      });
    for (const [securityLevel, length] of [
      [128, 16],
      [256, 32],
      [384, 24],
    ] as const) {
      const later = fakeGenerator(fixed(length, 8, SCREEN_RESEEDS));
      const wish = order({ securityLevel, withEvidence: true });
      assert.throws(() => generateKey(later, keyring, wish, tally()), unavailable);
      assert.equal(later.latched?.cause, 'gate');
      const atStart = fakeGenerator(fixed(length, 12, 0));
      screenLiveCarrier(atStart);
      assert.equal(atStart.latched?.cause, 'gate');
    }
  });

  it('latches on a repeated block within a carrier, under any modulation', () => {
    for (const modulation of MODULATION_TYPES) {
      for (const securityLevel of [256, 384] as const) {
        // A block of 256 bits twice; for 384 bits the same half after each reseed.
        let half: Buffer | undefined;
        const drbg = new RecordingDrbg((output, reseeds) => {
          if (reseeds <= SCREEN_RESEEDS || output.length > 32) return;
          if (output.length === 32) output.copy(output, 16, 0, 16);
          half ??= Buffer.from(output);
          if (output.length === 24) output.set(half);
        });
        const generator = fakeGenerator(drbg);
        const wish = order({ modulation, securityLevel });
        assert.throws(() => generateKey(generator, keyring, wish, tally()), unavailable);
        const { cause, test } = generator.latched ?? {};
        assert.deepEqual([cause, test], ['key_test', 'repeated-block']);
      }
    }
  });

  it('latches on a key that fails the exact tests despite a sound carrier', (t) => {
    t.mock.method(Modulator.prototype, 'modulateInPlace', (carrier: Buffer) => carrier.fill(0));
    const generator = fakeGenerator(new RecordingDrbg());
    assert.throws(() => generateKey(generator, keyring, order(), tally()), unavailable);
    assert.deepEqual([generator.latched?.cause, generator.latched?.test], ['key_test', 'ones']);
  });

  it('gives no output through any method after it latched', () => {
    const generator = fakeGenerator(new RecordingDrbg());
    generator.latch(STAGED);
    assert.throws(() => generator.request(1), unavailable);
    assert.throws(() => generator.requestSample(32, 'os'), unavailable);
    assert.throws(() => generator.reseed('os'), unavailable);
    generator.latch({ ...STAGED, test: 'runs' });
    assert.deepEqual(generator.latched, STAGED);
  });

  it('draws no sample after another thread latched, and says that no key can be made', () => {
    const latch = Latch.forThreads(2);
    const generator = new Generator(parts({ latch: new Latch(latch.memory) }));
    generator.takeScreen();
    latch.set(STAGED);
    const wish = order({ withEvidence: true });
    assert.throws(() => generateKey(generator, keyring, wish, tally()), unavailable);
    assert.throws(() => sampleStream(generator, 'none'), unavailable);
  });

  it('says so, too, if the verdict on a first stream latches', () => {
    const drbg = new RecordingDrbg((output, reseeds) => {
      if (reseeds > SCREEN_RESEEDS && output.length > 64) output.fill(0x55);
    });
    const generator = fakeGenerator(drbg);
    // Two failures of before: the third fills the tally.
    for (let i = 0; i < 2; i++) generator.judged(sampleVerdict(false), 'streams of validated keys');
    const counts = tally();
    const wish = order({ withEvidence: true });
    assert.throws(() => generateKey(generator, keyring, wish, counts), unavailable);
    assert.deepEqual(counts, { streams: 1, streamsPassed: 0 });
    assert.match(generator.latched?.detail ?? '', /third failure/);
  });

  it('latches at startup if the bare carrier fails the suite twice, but not once', () => {
    const failing = (from: number, to: number) =>
      new RecordingDrbg((output, reseeds) => {
        if (reseeds >= from && reseeds <= to && output.length === SEGMENT_BYTES) output.fill(0x55);
      });
    const once = fakeGenerator(failing(SCREEN_RESEEDS + 1, 2 * SCREEN_RESEEDS));
    screenLiveCarrier(once);
    assert.equal(once.latched, null);
    const twice = fakeGenerator(failing(SCREEN_RESEEDS + 1, 3 * SCREEN_RESEEDS));
    screenLiveCarrier(twice);
    assert.match(twice.latched?.detail ?? '', /streams of suite workers/);
  });

  it('stays latched but keeps its worker alive if its first sample was biased', () => {
    const generator = fakeGenerator(new RecordingDrbg(bias));
    screenLiveCarrier(generator);
    assert.match(generator.latched?.detail ?? '', /screened sample/);
  });

  it('rejects a source that was not opened', () => {
    const generator = fakeGenerator(new RecordingDrbg());
    assert.throws(() => generator.reseed('qrng'), RangeError);
  });
});
