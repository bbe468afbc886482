/**
 * The readers of background sources. Each module is loaded when its source is opened: the
 * validation of remote answers is larger than the rest of this stage, and most threads and commands
 * open no such source.
 */
import type { NoiseReader } from './noise.ts';
import type { ReaderSettings } from './registry.ts';

/** Opens a reader. Rejects with `RangeError` on invalid settings. */
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
