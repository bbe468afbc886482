/** The table of entropy sources: one row adds a source; one that is read in the background is opened in `readers.ts`. */
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
  /** The min-entropy claimed, and what the claim rests on, in words for an operator. */
  readonly assessment: (settings: SourceSettings) => string;
  /** Min-entropy credited to a draw, in bits. */
  readonly creditBits: (settings: SourceSettings) => number;
}

interface DirectRow extends CommonRow {
  readonly open: () => EntropySource;
}

interface BackgroundRow extends CommonRow {
  /** Whether its noise arises apart from the machine's own, so that its credit may be added. */
  readonly isSeparate: (settings: SourceSettings) => boolean;
  /** Draws that the pool holds: a power of two. */
  readonly poolDraws: number;
  /** Asking it takes the network, and perhaps money. */
  readonly isRemote: boolean;
  /** What the source's thread needs to open it. Throws `SetupError` on an unreadable credential. */
  readonly prepare: (settings: SourceSettings) => ReaderSettings;
}

/** What one source's thread is told: nothing of the other sources. */
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

/** Claimed by providers, who know the bits; an operator may decide to trust them. */
const remoteAssessment = ({ remoteCredit }: SourceSettings) =>
  remoteCredit
    ? "the provider's word, which the operator takes by PHM_REMOTE_CREDIT=on"
    : 'not credited: the provider knows the bits';

const remoteCredit = (settings: SourceSettings) => (settings.remoteCredit ? POOLED_CREDIT_BITS : 0);

/** What the rows of providers of quantum bits share. */
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
        ? "1/8 bit a sample, on the operator's word by PHM_JITTER_CREDIT=on"
        : 'not credited: no assessment of this machine; PHM_JITTER_CREDIT=on says there is one',
    creditBits: ({ jitterCredit }) => (jitterCredit ? POOLED_CREDIT_BITS : 0),
    // The interrupts and cache misses that delay its walk are what the kernel times for its own pool.
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
        return "not credited: it is the kernel's generator, as os";
      const claim = `${device.minEntropyPerByte} bits a byte, on the operator's word by PHM_DEVICE_MIN_ENTROPY`;
      return feedsKernel(device.path)
        ? `${claim}; not added to os: the kernel may feed itself from the same chip`
        : claim;
    },
    creditBits: ({ device }) =>
      device && !isKernelGenerator(device.path) ? POOLED_CREDIT_BITS : 0,
    // Part of the operator's claim, but where it is seen to be wrong.
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

/** How the claim for a source came about, in one line for an operator. */
export function sourceAssessment(name: SourceName, settings: SourceSettings): string {
  return SOURCES[name].assessment(settings);
}

/** Min-entropy credited to each draw of a source, in bits. */
export function sourceCreditBits(name: SourceName, settings: SourceSettings): number {
  return SOURCES[name].creditBits(settings);
}

/** Whether asking the source takes the network, and perhaps money. */
export function isRemote(name: SourceName): boolean {
  return isBackground(name) && BACKGROUND[name].isRemote;
}

/** Opens a source. It does not throw: one that cannot be read says so in `status` and `draw`. */
export function openSource(name: DirectName): EntropySource {
  return DIRECT[name].open();
}

export function backgroundRow(name: BackgroundName): BackgroundRow {
  return BACKGROUND[name];
}

/** The configuration refuses an enabled source without its settings. */
function required<T>(settings: T | null): T {
  if (settings === null) throw new TypeError('"settings" expected those of an enabled source');
  return settings;
}
