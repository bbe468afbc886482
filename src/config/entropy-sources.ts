/** Reads the variables of the entropy sources. */
import { resolve } from 'node:path';
import { ENTROPY_SETTINGS } from './entropy-settings.ts';
import { type Credential, printable, type Reader } from './reader.ts';

/** Names of the sources in use. */
export interface EnabledSources {
  /** Source of keys whose request names none. */
  readonly entropySource: string;
  /** Sources that a request may name. */
  readonly entropySources: readonly string[];
  /** Sources mixed into every key while they deliver. */
  readonly entropyMix: readonly string[];
}

export const QRNG_PROFILES = ENTROPY_SETTINGS.PHM_QRNG_PROFILE.choices;
export type QrngProfileName = (typeof QRNG_PROFILES)[number];

/** Settings with which the entropy sources are opened; null for a source that is not set up. */
export interface SourceSettings {
  /** Credits timing noise: the operator decides after assessing the machine. */
  readonly jitterCredit: boolean;
  readonly remoteCredit: boolean;
  readonly device: { readonly path: string; readonly minEntropyPerByte: number } | null;
  readonly ibmQuantum: IbmQuantumConfig | null;
  readonly qrng: QrngConfig | null;
}

interface IbmQuantumConfig {
  readonly apiKey: Credential;
  readonly serviceCrn: string;
  readonly backend: string;
  readonly shots: number;
  /** The public service if left out; `apiVersion` is then the newest that this program knows. */
  readonly url?: string;
  readonly iamUrl?: string;
  readonly apiVersion?: string;
}

interface QrngConfig {
  readonly profile: QrngProfileName;
  /** Null for the public service of the profile. */
  readonly url: string | null;
  readonly apiKey: Credential | null;
}

export function readSources(reader: Reader, known: readonly string[]): EnabledSources {
  const entropySource = reader.oneOf('PHM_ENTROPY_SOURCE', known);
  const named = reader.list('PHM_ENTROPY_SOURCES', known);
  return {
    entropySource,
    entropySources: [...new Set([entropySource, ...named])],
    entropyMix: reader.list('PHM_ENTROPY_MIX', known).filter((name) => name !== 'os'),
  };
}

export function readSourceSettings(reader: Reader): SourceSettings {
  return {
    jitterCredit: reader.flag('PHM_JITTER_CREDIT'),
    remoteCredit: reader.flag('PHM_REMOTE_CREDIT'),
    device: readDevice(reader),
    ibmQuantum: readIbmQuantum(reader),
    qrng: readQrng(reader),
  };
}

const [MIN_DEVICE_ENTROPY, MAX_DEVICE_ENTROPY] = ENTROPY_SETTINGS.PHM_DEVICE_MIN_ENTROPY.range;

function readDevice(reader: Reader): SourceSettings['device'] {
  const path = reader.text('PHM_DEVICE_PATH');
  if (!path) return null;
  const text = reader.text('PHM_DEVICE_MIN_ENTROPY');
  const minEntropyPerByte = /^\d(\.\d{1,9})?$/.test(text) ? Number(text) : Number.NaN;
  if (!(minEntropyPerByte >= MIN_DEVICE_ENTROPY && minEntropyPerByte <= MAX_DEVICE_ENTROPY)) {
    const found = text ? `is "${printable(text)}"` : 'is missing';
    reader.problems.push(
      `PHM_DEVICE_MIN_ENTROPY ${found}: set the min-entropy that you claim per byte of the device, ` +
        `${MIN_DEVICE_ENTROPY} to ${MAX_DEVICE_ENTROPY} bits. To estimate it: phm sources test device`,
    );
  }
  return { path: resolve(path), minEntropyPerByte };
}

function readIbmQuantum(reader: Reader): IbmQuantumConfig | null {
  const apiKey = reader.credential('PHM_IBM_API_KEY', 'PHM_IBM_API_KEY_FILE');
  const serviceCrn = reader.text('PHM_IBM_SERVICE_CRN');
  const backend = reader.text('PHM_IBM_BACKEND');
  const url = reader.url('PHM_IBM_URL');
  const iamUrl = reader.url('PHM_IBM_IAM_URL');
  const apiVersion = reader.text('PHM_IBM_API_VERSION');
  const shots = reader.integer('PHM_IBM_SHOTS');
  if (shots % 2 !== 0) reader.problems.push(`PHM_IBM_SHOTS is ${shots}: use an even number`);
  if (apiVersion && !/^\d{4}-\d{2}-\d{2}$/.test(apiVersion)) {
    reader.problems.push('PHM_IBM_API_VERSION is not a date: write it in the form 2026-04-15');
  }
  if (!apiKey && !serviceCrn && !backend) return null;
  if (!apiKey || !serviceCrn || !backend) {
    reader.problems.push(
      'PHM_IBM_API_KEY (or PHM_IBM_API_KEY_FILE), PHM_IBM_SERVICE_CRN and PHM_IBM_BACKEND go together: ' +
        'set all of them or none',
    );
    return null;
  }
  for (const [name, text] of [
    ['PHM_IBM_SERVICE_CRN', serviceCrn],
    ['PHM_IBM_BACKEND', backend],
  ]) {
    if (!/^[\x21-\x7e]{1,512}$/.test(text)) {
      reader.problems.push(
        `${name} is not one word of printable ASCII: copy it from the IBM Quantum dashboard`,
      );
    }
  }
  return {
    apiKey,
    serviceCrn,
    backend,
    shots,
    ...(url && { url }),
    ...(iamUrl && { iamUrl }),
    ...(apiVersion && { apiVersion }),
  };
}

function readQrng(reader: Reader): QrngConfig | null {
  const apiKey = reader.credential('PHM_QRNG_API_KEY', 'PHM_QRNG_API_KEY_FILE');
  const url = reader.url('PHM_QRNG_URL');
  if (!reader.text('PHM_QRNG_PROFILE')) {
    if (apiKey || url) {
      reader.problems.push(
        `PHM_QRNG_PROFILE is missing: set it to one of ${QRNG_PROFILES.join(', ')}`,
      );
    }
    return null;
  }
  const profile = reader.choice('PHM_QRNG_PROFILE');
  const isNamed = reader.text('PHM_QRNG_PROFILE') === profile;
  if (isNamed && profile === 'open-api' && !url) {
    reader.problems.push('PHM_QRNG_URL is missing: the profile open-api has no public address');
  }
  if (profile !== 'open-api' && !apiKey) {
    reader.problems.push(
      `PHM_QRNG_API_KEY (or PHM_QRNG_API_KEY_FILE) is missing: the profile ${profile} requires it`,
    );
  }
  return { profile, url, apiKey };
}

/** Sources that need settings, and the variables that set them up. */
const NEEDED_SETTINGS: ReadonlyMap<string, [keyof SourceSettings, string]> = new Map([
  ['device', ['device', 'PHM_DEVICE_PATH and PHM_DEVICE_MIN_ENTROPY']],
  ['ibm-quantum', ['ibmQuantum', 'PHM_IBM_API_KEY, PHM_IBM_SERVICE_CRN and PHM_IBM_BACKEND']],
  ['qrng', ['qrng', 'PHM_QRNG_PROFILE, and PHM_QRNG_URL or PHM_QRNG_API_KEY if it requires them']],
]);

/** Returns the missing variables of a source in words, or null if it can be opened. */
export function missingSettings(name: string, settings: SourceSettings): string | null {
  const needed = NEEDED_SETTINGS.get(name);
  return needed && settings[needed[0]] === null ? needed[1] : null;
}

export function requireSettings(
  { problems }: Reader,
  names: readonly string[],
  settings: SourceSettings,
): void {
  for (const name of new Set(names)) {
    const missing = missingSettings(name, settings);
    if (missing) problems.push(`the source "${name}" is enabled but not set up: set ${missing}`);
  }
}
