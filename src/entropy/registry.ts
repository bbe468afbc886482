/**
 * The table of entropy sources. One row adds a source; a background source also needs its case in
 * `readers.ts`.
 */
import type { SourceSettings } from '../config/index.ts';
import { POOLED_CREDIT_BITS } from './conditioning.ts';
import { readCredential } from './credential.ts';
import type {
  BackgroundName,
  DirectName,
  EntropySource,
  SourceKind,
  SourceName,
} from './source.ts';
import type { IbmQuantumSettings } from './sources/ibm-quantum.ts';
import {
  feedsKernel,
  isKernelGenerator,
  openOsSource,
  osAssessment,
  osCreditBits,
} from './sources/os.ts';
import type { QrngSettings } from './sources/qrng.ts';
import { openQuantumSimulator } from './sources/quantum-simulator.ts';

interface CommonRow {
  readonly kind: SourceKind;
  /** Returns the claimed min-entropy and the basis of the claim, in one line for an operator. */
  readonly assessment: (settings: SourceSettings) => string;
  /** Returns the min-entropy credited to a draw, in bits. */
  readonly creditBits: (settings: SourceSettings) => number;
}

interface DirectRow extends CommonRow {
  readonly open: () => EntropySource;
}

interface BackgroundRow extends CommonRow {
  /** True if its noise is independent of the machine's, so that its credit may be added. */
  readonly isSeparate: (settings: SourceSettings) => boolean;
  /** Capacity of the pool in draws, a power of two. */
  readonly poolDraws: number;
  /** True if reading the source uses the network, and perhaps costs money. */
  readonly isRemote: boolean;
  /**
   * Returns the settings that the source's thread needs. Throws `SetupError` if a credential cannot
   * be read.
   */
  readonly prepare: (settings: SourceSettings) => ReaderSettings;
}

/** The settings of one source, for its thread. They contain nothing about other sources. */
export type ReaderSettings =
  | { readonly name: 'jitter' }
  | { readonly name: 'device'; readonly path: string; readonly minEntropyPerByte: number }
  | ({ readonly name: 'ibm-quantum' } & IbmQuantumSettings)
  | ({ readonly name: 'qrng' } & QrngSettings);

const DIRECT: Readonly<Record<DirectName, DirectRow>> = {
  os: {
    kind: 'system',
    assessment: () => osAssessment(),
    creditBits: () => osCreditBits(),
    open: () => openOsSource(),
  },
  'quantum-simulator': {
    kind: 'quantum-simulator',
    assessment: () => 'a pseudorandom generator',
    creditBits: () => 0,
    open: openQuantumSimulator,
  },
};

/** The provider makes the claim and knows the bits. The operator decides whether to trust it. */
const remoteAssessment = ({ remoteCredit }: SourceSettings) =>
  remoteCredit
    ? "the provider's word, accepted by the operator (PHM_REMOTE_CREDIT=on)"
    : 'not credited: the provider knows the bits';

const remoteCredit = (settings: SourceSettings) => (settings.remoteCredit ? POOLED_CREDIT_BITS : 0);

/** The common fields of the remote rows. */
const REMOTE = {
  kind: 'quantum-hardware',
  assessment: remoteAssessment,
  creditBits: remoteCredit,
  isSeparate: () => true,
  poolDraws: 64,
  isRemote: true,
} as const;

const BACKGROUND: Readonly<Record<BackgroundName, BackgroundRow>> = {
  jitter: {
    kind: 'noise',
    assessment: ({ jitterCredit }) =>
      jitterCredit
        ? "1/8 bit per sample, on the operator's word (PHM_JITTER_CREDIT=on)"
        : 'not credited: no assessment of this machine (PHM_JITTER_CREDIT=on claims one)',
    creditBits: ({ jitterCredit }) => (jitterCredit ? POOLED_CREDIT_BITS : 0),
    // The kernel times the same interrupts and cache misses for its own pool.
    isSeparate: () => false,
    poolDraws: 256,
    isRemote: false,
    prepare: () => ({ name: 'jitter' }),
  },
  device: {
    kind: 'noise',
    assessment: ({ device }) => {
      if (!device) return 'claimed by PHM_DEVICE_MIN_ENTROPY';
      if (isKernelGenerator(device.path))
        return "not credited: this is the kernel's generator, like os";
      const claim = `${device.minEntropyPerByte} bits per byte, on the operator's word (PHM_DEVICE_MIN_ENTROPY)`;
      return feedsKernel(device.path)
        ? `${claim}; not added to os: the kernel may feed itself from the same chip`
        : claim;
    },
    creditBits: ({ device }) =>
      device && !isKernelGenerator(device.path) ? POOLED_CREDIT_BITS : 0,
    // This is part of the operator's claim, except where the path contradicts it.
    isSeparate: ({ device }) => device !== null && !feedsKernel(device.path),
    poolDraws: 256,
    isRemote: false,
    prepare: ({ device }) => ({ name: 'device', ...required(device) }),
  },
  'ibm-quantum': {
    ...REMOTE,
    prepare: ({ ibmQuantum }) => {
      const { apiKey, ...rest } = required(ibmQuantum);
      return { name: 'ibm-quantum', ...rest, apiKey: readCredential('PHM_IBM_API_KEY', apiKey) };
    },
  },
  qrng: {
    ...REMOTE,
    prepare: ({ qrng }) => {
      const { apiKey, ...rest } = required(qrng);
      return {
        name: 'qrng',
        ...rest,
        apiKey: apiKey && readCredential('PHM_QRNG_API_KEY', apiKey),
      };
    },
  },
};

const SOURCES: Readonly<Record<SourceName, CommonRow>> = { ...DIRECT, ...BACKGROUND };

export const SOURCE_NAMES: readonly SourceName[] = Object.keys(SOURCES).filter(isSourceName);

export function isSourceName(name: string): name is SourceName {
  return Object.hasOwn(SOURCES, name);
}

export function isBackground(name: SourceName): name is BackgroundName {
  return Object.hasOwn(BACKGROUND, name);
}

export function sourceKind(name: SourceName): SourceKind {
  return SOURCES[name].kind;
}

/** Returns the basis of a source's claim, in one line for an operator. */
export function sourceAssessment(name: SourceName, settings: SourceSettings): string {
  return SOURCES[name].assessment(settings);
}

/** Returns the min-entropy credited to each draw of a source, in bits. */
export function sourceCreditBits(name: SourceName, settings: SourceSettings): number {
  return SOURCES[name].creditBits(settings);
}

/** True if reading the source uses the network, and perhaps costs money. */
export function isRemote(name: SourceName): boolean {
  return isBackground(name) && BACKGROUND[name].isRemote;
}

/** Opens a source. It does not throw: `status` and `draw` report a source that cannot be read. */
export function openSource(name: DirectName): EntropySource {
  return DIRECT[name].open();
}

export function backgroundRow(name: BackgroundName): BackgroundRow {
  return BACKGROUND[name];
}

/** The configuration has already refused an enabled source without settings. */
function required<T>(settings: T | null): T {
  if (settings === null)
    throw new TypeError('"settings" expected the settings of an enabled source');
  return settings;
}
