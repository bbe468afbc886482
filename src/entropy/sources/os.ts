/**
 * The operating system's generator: `/dev/urandom`, read from an open descriptor for every draw.
 *
 * `node:crypto` is OpenSSL's own generator in this process and does not ask the kernel at each
 * call, so it would give no fresh entropy per key. On Windows there is no device and it stands in:
 * per-key freshness is not claimed there.
 */
import { randomFillSync } from 'node:crypto';
import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { MonitoredSource } from '../monitored-source.ts';

/**
 * The kernel's generator has a 256-bit key (Linux random(4): ChaCha20), so however many bytes are
 * read they are credited 256 bits: a computational credit, not a measured one.
 */
export const OS_CREDIT_BITS = 256;

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
    creditBitsPerDraw: OS_CREDIT_BITS,
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
