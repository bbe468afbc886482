/** WAV (Microsoft and IBM, Multimedia Programming Interface and Data Specifications, 1991): PCM of 8, 16, 24 or 32 bits. */
import { type Decoder, type DecoderUse, formError, NO_BYTES, WordCutter } from './decoder.ts';
import { HeaderDecoder } from './header.ts';
import { IntegerDecoder, parseBits } from './integers.ts';

const PCM = 1;
const EXTENSIBLE = 0xfffe;
/** The rest of the GUID of PCM in an extensible format. */
const PCM_GUID = '0100000000001000800000aa00389b71';

interface WavOptions {
  /** From 1; null: all, as they are interleaved. Undefined: the file must have one. */
  readonly channel?: number | null;
  /** Bits that are read of each sample, such as `0-7`. */
  readonly bits?: string;
}

/** Reads `wav`, `wav:1`, `wav:all`, `wav:1:0-7`, `wav:0-7`. Returns null for another form. */
export function parseWav(text: string): WavOptions | null {
  const found = /^wav(?::(all|[1-9]\d?))?(?::(\d{1,2}-\d{1,2}))?$/.exec(text);
  if (!found) return null;
  const [, channel, bits] = found;
  return {
    ...(channel !== undefined && { channel: channel === 'all' ? null : Number(channel) }),
    ...(bits !== undefined && { bits }),
  };
}

interface Format {
  readonly channels: number;
  /** Bytes of a sample. */
  readonly bytes: number;
}

export class WavDecoder extends HeaderDecoder {
  protected readonly noun = 'the WAV';
  readonly #options: WavOptions;
  readonly #use: DecoderUse;

  constructor(options: WavOptions, use: DecoderUse) {
    super();
    this.#options = options;
    this.#use = use;
  }

  protected readHeader(
    bytes: Uint8Array,
  ): { length: number; body: Decoder; format: string } | null {
    if (bytes.length < 12) return null;
    const magic = textAt(bytes, 0) + textAt(bytes, 8);
    if (magic !== 'RIFFWAVE') {
      throw formError('the input is no WAV that can be read: it does not begin with RIFF and WAVE');
    }
    const riffEnd = 8 + numberAt(bytes, 4);
    let format: Format | null = null;
    for (let at = 12; ; ) {
      if (bytes.length < at + 8) return null;
      const name = textAt(bytes, at);
      const size = numberAt(bytes, at + 4);
      at += 8;
      if (name === 'data') return { length: at, ...this.#bodyOf(format, at, size, riffEnd) };
      if (bytes.length < at + size) return null;
      if (name === 'fmt ') format = formatOf(bytes.subarray(at, at + size));
      at += size + (size % 2);
    }
  }

  #bodyOf(
    format: Format | null,
    at: number,
    size: number,
    riffEnd: number,
  ): { body: Decoder; format: string } {
    if (!format) throw formError('the WAV has no format before its data');
    if (at + size > riffEnd) {
      throw formError(
        'the WAV does not say how long it is, as one that was written to a pipe: write its samples alone, and use s16le or the like',
      );
    }
    const { channels, bytes } = format;
    const { channel = channels === 1 ? 1 : undefined, bits } = this.#options;
    if (channel === undefined) {
      throw formError(
        `the WAV has ${channels} channels: choose one with wav:1, or all as they are interleaved with wav:all`,
      );
    }
    if (channel !== null && channel > channels) {
      throw formError(`the WAV has ${channels} channels, not ${channel}`);
    }
    if (size % (channels * bytes) !== 0) throw formError('the data of the WAV end within a sample');
    const chosen =
      bits === undefined ? { low: 0, high: 8 * bytes - 1 } : parseBits(bits, 8 * bytes);
    if (!chosen) throw formError(`bits ${bits} are beyond the ${8 * bytes} bits of a sample`);
    const samples = new IntegerDecoder(
      { bytes, isBig: false, ...chosen, unused: 'any' },
      this.#use,
    );
    const body = channel === null ? samples : new ChannelDecoder(samples, format, channel);
    const option = bits === undefined ? '' : `:${bits}`;
    return {
      body: new WavData(body, size, riffEnd - at - size),
      format: `wav:${channel ?? 'all'}${option}`,
    };
  }
}

function formatOf(bytes: Uint8Array): Format {
  if (bytes.length < 16) throw formError('the format of the WAV is too short');
  const view = new DataView(bytes.buffer, bytes.byteOffset);
  const tag = view.getUint16(0, true);
  const channels = view.getUint16(2, true);
  const align = view.getUint16(12, true);
  const bits = view.getUint16(14, true);
  const isPcm =
    tag === PCM || (tag === EXTENSIBLE && bytes.length >= 40 && hexAt(bytes, 24) === PCM_GUID);
  if (!isPcm) {
    throw formError(
      `the WAV is no PCM of integers (its format is 0x${tag.toString(16)}): convert it, such as with sox FILE -e signed-integer -b 16 OUT.wav`,
    );
  }
  if (![8, 16, 24, 32].includes(bits) || channels < 1 || align !== (channels * bits) / 8) {
    throw formError(
      `the WAV has samples of ${bits} bits in ${align} bytes for ${channels} channels`,
    );
  }
  if (tag === EXTENSIBLE && view.getUint16(18, true) !== bits) {
    const valid = view.getUint16(18, true);
    throw formError(
      `the WAV has samples with ${valid} valid bits of ${bits}: write its samples alone, and use u${valid}in${bits}le:high`,
    );
  }
  return { channels, bytes: bits / 8 };
}

/** Takes the samples of one channel. */
class ChannelDecoder implements Decoder {
  readonly #samples: IntegerDecoder;
  readonly #frames: WordCutter;
  readonly #bytes: number;
  readonly #at: number;

  constructor(samples: IntegerDecoder, { channels, bytes }: Format, channel: number) {
    this.#samples = samples;
    this.#frames = new WordCutter(channels * bytes);
    this.#bytes = bytes;
    this.#at = (channel - 1) * bytes;
  }

  get unusedBits(): number {
    return this.#samples.unusedBits;
  }

  push(chunk: Uint8Array): Uint8Array {
    const taken = new Uint8Array(chunk.length + this.#bytes);
    let length = 0;
    this.#frames.each(chunk, (bytes, at) => {
      const from = at + this.#at;
      taken.set(bytes.subarray(from, from + this.#bytes), length);
      length += this.#bytes;
    });
    const samples = this.#samples.push(taken.subarray(0, length));
    taken.fill(0);
    return samples;
  }

  end(): Uint8Array {
    this.#frames.assertWhole();
    return this.#samples.end();
  }
}

/** The data of a WAV, and the chunks that may follow them, which are no samples. */
class WavData implements Decoder {
  readonly #body: Decoder;
  #left: number;
  #after: number;

  constructor(body: Decoder, size: number, after: number) {
    this.#body = body;
    this.#left = size;
    this.#after = after;
  }

  get unusedBits(): number {
    return this.#body.unusedBits;
  }

  push(chunk: Uint8Array): Uint8Array {
    const data = chunk.subarray(0, this.#left);
    this.#left -= data.length;
    this.#after -= chunk.length - data.length;
    // Some programs leave the byte that makes a chunk even out of the length of the whole.
    if (this.#after < -1) throw formError('the WAV has more bytes than its header says');
    return data.length === 0 ? NO_BYTES : this.#body.push(data);
  }

  end(): Uint8Array {
    if (this.#left > 0) throw formError(`the WAV is cut off: ${this.#left} bytes are missing`);
    return this.#body.end();
  }
}

function textAt(bytes: Uint8Array, at: number): string {
  return String.fromCharCode(...bytes.subarray(at, at + 4));
}

function numberAt(bytes: Uint8Array, at: number): number {
  return new DataView(bytes.buffer, bytes.byteOffset).getUint32(at, true);
}

function hexAt(bytes: Uint8Array, at: number): string {
  return Array.from(bytes.subarray(at, at + 16), (byte) => byte.toString(16).padStart(2, '0')).join(
    '',
  );
}
