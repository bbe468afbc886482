/**
 * The readers of background sources. Each is loaded when it is opened: what checks the answers of remote
 * services is larger than all the rest of this stage, and most threads and commands open none of them.
 */
import type { NoiseReader } from './noise.ts';
import type { ReaderSettings } from './registry.ts';

/** Rejects with `RangeError` on settings that cannot be used. */
export async function openReader(settings: ReaderSettings): Promise<NoiseReader> {
  switch (settings.name) {
    case 'jitter':
      return (await import('./sources/jitter.ts')).openJitter();
    case 'device':
      return (await import('./sources/device.ts')).openDevice(settings);
    case 'ibm-quantum':
      return (await import('./sources/ibm-quantum.ts')).openIbmQuantum(settings);
    case 'qrng':
      return (await import('./sources/qrng.ts')).openQrng(settings);
  }
}
