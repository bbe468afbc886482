/**
 * The operating system's generator: `/dev/urandom`, read from an open descriptor for every draw.
 *
 * A draw is fresh output of the kernel's generator, not fresh entropy. The kernel takes in entropy
 * rarely (Linux 5.18 and later: about once a minute), and all output in between comes from one
 * seed.
 *
 * `node:crypto` is OpenSSL's own generator in this process. It reads the kernel at startup and
 * rarely afterwards, so its output is not even fresh kernel output. It replaces the device on
 * Windows, which has none.
 */
import { randomFillSync } from 'node:crypto';
import { closeSync, fstatSync, openSync, readSync, statSync } from 'node:fs';
import { MonitoredSource } from '../monitored-source.ts';

/**
 * Security strength, in bits, of a generator that is seeded from this source alone. The kernel's
 * generator has a 256-bit key (Linux random(4): ChaCha20), and so has OpenSSL's (CTR_DRBG with
 * AES-256).
 */
export const OS_STRENGTH_BITS = 256;

/**
 * Returns the credit of one draw, in bits: the size of the kernel generator's key, however many
 * bytes are read. It is a computational credit, not a measured one. It is 0 on Windows, where a
 * draw reads nothing from the kernel.
 */
export function osCreditBits(platform: NodeJS.Platform = process.platform): number {
  return platform === 'win32' ? 0 : 256;
}

/** Returns the basis of the credit, in one line for an operator. */
export function osAssessment(platform: NodeJS.Platform = process.platform): string {
  return platform === 'win32'
    ? "not credited for a draw: Windows has no device, and OpenSSL's generator rarely reads the kernel"
    : 'the key of the kernel generator has 256 bits: a computational credit, once for a key';
}

export interface OsDevices {
  /** The device that every draw reads. */
  readonly path: string;
  /**
   * Read once before the first draw. The read blocks until the kernel's generator is initialised.
   */
  readonly readyPath: string;
  /** Refuses a regular file in place of the device, as in a badly built chroot. */
  readonly mustBeDevice: boolean;
}

const DEVICES: OsDevices = {
  path: '/dev/urandom',
  readyPath: '/dev/random',
  mustBeDevice: true,
};

const HARDWARE_GENERATOR = '/dev/hwrng';

/**
 * Character device 10, 183 on Linux (Documentation/admin-guide/devices.txt), encoded as in
 * `st_rdev`.
 */
const HARDWARE_GENERATOR_NUMBER = (10 << 8) | 183;

/**
 * True if `path` is the kernel's generator by any name, so that `os` already contains its output.
 */
export function isKernelGenerator(path: string): boolean {
  const device = deviceNumber(path);
  return (
    device !== null && [DEVICES.path, DEVICES.readyPath].some((one) => deviceNumber(one) === device)
  );
}

/**
 * True if `path` is the kernel's device for the machine's hardware generator, by any name. Linux
 * may feed its own generator from the same chip (rng-core), so that `os` already contains its
 * noise.
 */
export function feedsKernel(path: string): boolean {
  return path === HARDWARE_GENERATOR || deviceNumber(path) === HARDWARE_GENERATOR_NUMBER;
}

/** Returns the number of a character device, or null if there is none or it cannot be read. */
function deviceNumber(path: string): number | null {
  try {
    const found = statSync(path);
    return found.isCharacterDevice() ? found.rdev : null;
  } catch {
    return null;
  }
}

/** Opens the system source. It never throws; `status` reports a device that cannot be read. */
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
