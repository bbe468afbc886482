/**
 * Endless reports on streams: keys generated as in the service, and controls that share only the suite and the
 * modulation with the generator.
 */
import { createCipheriv, randomBytes } from 'node:crypto';
import type { SuiteReport } from '#sp800-22';
import { wipe } from '../../src/bytes.ts';
import { runEvidenceSuite } from '../../src/keys/evidence-suite.ts';
import { generateKey } from '../../src/keys/generate.ts';
import { Generator } from '../../src/keys/generator.ts';
import type { KeyOrder } from '../../src/keys/order.ts';
import { STREAM_TESTS } from '../../src/keys/p-values.ts';
import { SAMPLE_BITS } from '../../src/keys/sample.ts';
import { requireSelfTests } from '../../src/keys/self-test.ts';
import {
  MODULATION_TYPES,
  type ModulationType,
  Modulator,
  PHASES_BYTES,
} from '../../src/modulation/index.ts';
import { Keyring } from '../../src/proof/index.ts';

export type Modulated = Exclude<ModulationType, 'none'>;
export const MODULATED: readonly Modulated[] = MODULATION_TYPES.filter((type) => type !== 'none');

/** Report of the suite on one carrier, and of the four tests on its modulations. */
export interface StreamReports {
  readonly carrier: SuiteReport;
  readonly modulated: Partial<Readonly<Record<Modulated, SuiteReport>>>;
  /** Number of streams before this one that failed the gate and were dropped. */
  readonly dropped: number;
}

interface StreamSource {
  readonly describe: string;
  /** Starts the source and returns a function that judges its next stream. */
  readonly open: () => () => StreamReports;
}

const SAMPLE_BYTES = SAMPLE_BITS / 8;

/** To measure another source, add a row. */
export const SOURCES: Readonly<Record<string, StreamSource>> = {
  ...Object.fromEntries(
    MODULATED.map((modulation): [string, StreamSource] => [
      modulation,
      {
        describe: `keys of 256 bits with validation, modulation ${modulation}`,
        open: () => openGenerator(modulation),
      },
    ]),
  ),
  aes: {
    describe: 'streams of AES-256-CTR with random keys, modulated in each way with random phases',
    open: () => () => judgeControl('aes-256-ctr'),
  },
  chacha20: {
    describe: 'streams of ChaCha20 with random keys, modulated in each way with random phases',
    open: () => () => judgeControl('chacha20'),
  },
};

/** Generates keys on the service's own path and wipes them at once. */
function openGenerator(modulation: Modulated): () => StreamReports {
  requireSelfTests();
  const generator = Generator.start({ names: ['os'], mix: [], pools: [] });
  const keyring = new Keyring([{ version: 1, secret: randomBytes(32) }]);
  const order: KeyOrder = {
    securityLevel: 256,
    modulation,
    source: 'os',
    withEvidence: true,
    report: true,
    receipt: false,
    labels: null,
    expiresMs: null,
    acceptedMs: 0,
  };
  return () => {
    const tally = { streams: 0, streamsPassed: 0 };
    const { key, report } = generateKey(generator, keyring, order, tally);
    wipe(key);
    if (!report?.modulated) throw new Error('a key without the reports on its stream');
    const dropped = tally.streams - tally.streamsPassed;
    return { carrier: report.carrier, modulated: { [modulation]: report.modulated }, dropped };
  };
}

/** Judges one carrier under each modulation, with separate phases, so that each modulation costs little. */
function judgeControl(cipher: 'aes-256-ctr' | 'chacha20'): StreamReports {
  const stream = createCipheriv(cipher, randomBytes(32), randomBytes(16));
  const carrier = stream.update(Buffer.alloc(SAMPLE_BYTES));
  const modulated = MODULATED.map((type) => {
    const sample = new Modulator(type, randomBytes(PHASES_BYTES)).modulate(carrier, 0);
    return [type, runEvidenceSuite(sample, STREAM_TESTS.modulated)];
  });
  return {
    carrier: runEvidenceSuite(carrier),
    modulated: Object.fromEntries(modulated),
    dropped: 0,
  };
}
