/**
 * The operating system's generator: `/dev/urandom`, read from an open descriptor for every draw.
 *
 * A draw is fresh output of the kernel's generator. It is not fresh entropy: the kernel takes that in
 * by itself, rarely (Linux 5.18 and later: about once a minute), and all output in between comes from
 * one seed.
 *
 * `node:crypto` is OpenSSL's own generator in this process. It asks the kernel at its start and then
 * rarely, so a draw of it is not even fresh kernel output. On Windows there is no device and it stands
 * in.
 */
import { randomFillSync } from 'node:crypto';
import { closeSync, fstatSync, openSync, readSync, statSync } from 'node:fs';
import { MonitoredSource } from '../monitored-source.ts';

/**
 * Security strength, in bits, that a generator seeded from this source alone may be said to have. The
 * kernel's generator has a 256-bit key (Linux random(4): ChaCha20), and so has OpenSSL's (CTR_DRBG
 * with AES-256).
 */
export const OS_STRENGTH_BITS = 256;

/**
 * Credit of one draw, in bits. However many bytes are read from the kernel they are credited the size
 * of its key: a computational credit, not a measured one. It is for what is read for this draw, so on
 * Windows, where nothing is, it is 0.
 */
export function osCreditBits(platform: NodeJS.Platform = process.platform): number {
  return platform === 'win32' ? 0 : 256;
}

/** What the credit of a draw rests on, in words for an operator. */
export function osAssessment(platform: NodeJS.Platform = process.platform): string {
  return platform === 'win32'
    ? "not credited for a draw: Windows has no device, and OpenSSL's generator asks the kernel rarely"
    : 'the key of the kernel generator has 256 bits: a computational credit, once for a key';
}

export interface OsDevices {
  /** What every draw reads. */
  readonly path: string;
  /** Read once before the first draw: it blocks until the kernel's generator is initialised. */
  readonly readyPath: string;
  /** A regular file in the device's place, as in a badly built chroot, is refused. */
  readonly mustBeDevice: boolean;
}

const DEVICES: OsDevices = {
  path: '/dev/urandom',
  readyPath: '/dev/random',
  mustBeDevice: true,
};

const HARDWARE_GENERATOR = '/dev/hwrng';

/** Character device 10, 183 on Linux (Documentation/admin-guide/devices.txt), as `st_rdev` has it. */
const HARDWARE_GENERATOR_NUMBER = (10 << 8) | 183;

/** Whether `path` is the kernel's generator, by whatever name: what it gives, `os` gives already. */
export function isKernelGenerator(path: string): boolean {
  const device = deviceNumber(path);
  return (
    device !== null && [DEVICES.path, DEVICES.readyPath].some((one) => deviceNumber(one) === device)
  );
}

/**
 * Whether `path` is the kernel's own way to the machine's hardware generator, by whatever name. Linux
 * may feed its generator from the same chip (rng-core), so that its noise is in `os` already.
 */
export function feedsKernel(path: string): boolean {
  return path === HARDWARE_GENERATOR || deviceNumber(path) === HARDWARE_GENERATOR_NUMBER;
}

/** The number of a character device, or null where there is none that can be seen. */
function deviceNumber(path: string): number | null {
  try {
    const found = statSync(path);
    return found.isCharacterDevice() ? found.rdev : null;
  } catch {
    return null;
  }
}

/** Opens the system source. It never throws; a device that cannot be read shows in `status`. */
export function openOsSource(
  platform: NodeJS.Platform = process.platform,
  devices: OsDevices = DEVICES,
): MonitoredSource {
  const reader =
    platform === 'win32' ? { read: fillFromOpenSsl, release: () => {} } : new DeviceReader(devices);
  return new MonitoredSource({
    name: 'os',
    kind: 'system',
    creditBitsPerDraw: osCreditBits(platform),
    read: (target) => reader.read(target),
    release: () => reader.release(),
  });
}

function fillFromOpenSsl(target: Buffer): void {
  randomFillSync(target);
}

class DeviceReader {
  readonly #devices: OsDevices;
  #descriptor: number | null = null;

  constructor(devices: OsDevices) {
    this.#devices = devices;
  }

  read(target: Buffer): void {
    this.#descriptor ??= openWhenReady(this.#devices);
    const got = readSync(this.#descriptor, target, 0, target.length, null);
    if (got !== target.length) throw new Error(`short read: ${got} of ${target.length} bytes`);
  }

  release(): void {
    if (this.#descriptor !== null) closeSync(this.#descriptor);
    this.#descriptor = null;
  }
}

function openWhenReady({ path, readyPath, mustBeDevice }: OsDevices): number {
  const ready = openSync(readyPath, 'r');
  try {
    if (readSync(ready, Buffer.alloc(1), 0, 1, null) !== 1)
      throw new Error(`${readyPath} is empty`);
  } finally {
    closeSync(ready);
  }
  const descriptor = openSync(path, 'r');
  if (mustBeDevice && !fstatSync(descriptor).isCharacterDevice()) {
    closeSync(descriptor);
    throw new Error(`${path} is not a character device`);
  }
  return descriptor;
}
