/** Verdicts on broken sources, by the distributions of p-values at each length and by uniform ones. */
import { createCipheriv } from 'node:crypto';
import {
  judgeSecondLevel,
  PValueTally,
  runPackedSuite,
  TEST_NAMES,
} from '../../../sp800-22/src/index-node.ts';
import { rowsFailedUniform } from './files.ts';

/** Returns the bytes that follow. */
type Source = (length: number) => Uint8Array;

function cipherStream(): Source {
  const cipher = createCipheriv('aes-256-ctr', Buffer.alloc(32, 7), Buffer.alloc(16));
  return (length) => cipher.update(Buffer.alloc(length));
}

/** Each bit is one with probability `share`, to 16 binary digits. */
function biased(share: number): Source {
  const words = cipherStream();
  return (length) => {
    const uniform = new Uint16Array(new Uint8Array(words(16 * length)).buffer);
    return Uint8Array.from({ length }, (_, i) => {
      let byte = 0;
      for (let bit = 0; bit < 8; bit++) {
        byte = (byte << 1) | Number(uniform[8 * i + bit] < share * 2 ** 16);
      }
      return byte;
    });
  };
}

/** One bit of every `bytes` bytes is zero. */
function stuck(bytes: number): Source {
  const sound = cipherStream();
  let at = 0;
  return (length) =>
    Uint8Array.from(sound(length), (byte) => (at++ % bytes === 0 ? byte & 0x7f : byte));
}

/** The stream repeats after `bytes` bytes. */
function periodic(bytes: number): Source {
  const period = cipherStream()(bytes);
  let at = 0;
  return (length) => Uint8Array.from({ length }, () => period[at++ % bytes]);
}

/** Bits 16 to 23 of the linear congruential generator of ANSI C. */
function congruential(): Source {
  let x = 1;
  return (length) =>
    Uint8Array.from({ length }, () => {
      x = (Math.imul(x, 1_103_515_245) + 12_345) >>> 0;
      return x >>> 16;
    });
}

/** Bits 23 to 30 of RANDU. */
function randu(): Source {
  let x = 1;
  return (length) =>
    Uint8Array.from({ length }, () => {
      x = Math.imul(x, 65_539) & 0x7fff_ffff;
      return x >>> 23;
    });
}

export const BROKEN: Readonly<Record<string, () => Source>> = {
  'bias 0.49': () => biased(0.49),
  'bias 0.499': () => biased(0.499),
  'stuck bit, 1 of 64': () => stuck(8),
  'stuck bit, 1 of 512': () => stuck(64),
  'period 8,000 bits': () => periodic(1000),
  'period 65,536 bits': () => periodic(8192),
  'LCG, bits 16 to 23': congruential,
  'RANDU, bits 23 to 30': randu,
};

interface DefectVerdict {
  readonly rowsFailed: number;
  /** Rows that fail if p-values are taken as uniform at every length. */
  readonly rowsFailedUniform: number;
}

/** Judges `m` sequences of `n` bits. */
export function judgeDefect(make: () => Source, n: number, m: number): DefectVerdict {
  const next = make();
  const tally = new PValueTally(TEST_NAMES, n);
  for (let i = 0; i < m; i++) tally.add(runPackedSuite(next(Math.ceil(n / 8)), { bits: n }));
  const verdict = judgeSecondLevel(m, tally.rows, n);
  if (!verdict.judged) throw new Error(verdict.reason);
  return { rowsFailed: verdict.rowsFailed, rowsFailedUniform: rowsFailedUniform(verdict) };
}
