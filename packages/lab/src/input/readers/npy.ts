/** Arrays of NumPy (https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html): one dimension, integers or bool. */
import { BitWordDecoder } from './bit-words.ts';
import { type Decoder, type DecoderUse, formError } from './decoder.ts';
import { ExactLength, HeaderDecoder } from './header.ts';
import { IntegerDecoder, parseBits } from './integers.ts';

const DICTIONARY =
  /^\{'descr': '([<>|=]?)([a-zA-Z]\d*)', 'fortran_order': (True|False), 'shape': \(([\d, ]*)\), \}\s*$/;

const BOOL = { bytes: 1, zero: Uint8Array.of(0), one: Uint8Array.of(1) };

export class NpyDecoder extends HeaderDecoder {
  protected readonly noun = 'the array';
  readonly #bits: string | undefined;
  readonly #use: DecoderUse;

  /** `bits`: those that are read of each integer, such as `0-7`; undefined: all. */
  constructor(bits: string | undefined, use: DecoderUse) {
    super();
    this.#bits = bits;
    this.#use = use;
  }

  protected readHeader(
    bytes: Uint8Array,
  ): { length: number; body: Decoder; format: string } | null {
    if (bytes.length < 12) return null;
    if (String.fromCharCode(...bytes.subarray(0, 6)) !== '\x93NUMPY') {
      throw formError('the input is no array of NumPy: it does not begin with \\x93NUMPY');
    }
    const view = new DataView(bytes.buffer, bytes.byteOffset);
    const version = bytes[6] as number;
    if (version < 1 || version > 3) throw formError(`version ${version} of .npy is not known`);
    const at = version === 1 ? 10 : 12;
    const length = at + (version === 1 ? view.getUint16(8, true) : view.getUint32(8, true));
    if (length > 2 ** 16) throw formError('the header of the array is longer than 65,536 bytes');
    if (bytes.length < length) return null;
    const text = String.fromCharCode(...bytes.subarray(at, length));
    return { length, ...this.#bodyOf(text) };
  }

  #bodyOf(text: string): { body: Decoder; format: string } {
    const [, order, type = '', fortran, shape = ''] = DICTIONARY.exec(text) ?? [];
    if (order === undefined) {
      throw formError(
        `the array has another header than NumPy writes, or fields: ${text.trim().slice(0, 200)}`,
      );
    }
    const sizes = shape.split(',').filter((size) => size.trim() !== '');
    if (sizes.length !== 1) {
      throw formError(
        `the array has the shape (${shape}), expected one dimension: save array.ravel()`,
      );
    }
    if (fortran === 'True') throw formError('the array is in Fortran order, expected C order');
    const [, kind, digits] = /^([bui])([1248])$/.exec(type) ?? [];
    if (kind === undefined || (kind === 'b' && digits !== '1')) {
      throw formError(`the array has the type ${order}${type}, expected integers or bool`);
    }
    const size = Number(digits);
    if (size > 1 && order !== '<' && order !== '>') {
      throw formError('the array does not say the order of its bytes');
    }
    const body = kind === 'b' ? this.#bool() : this.#integers(size, order === '>');
    const option = this.#bits === undefined ? '' : `:${this.#bits}`;
    const noun = 'the array';
    return {
      body: new ExactLength(body, Number(sizes[0]) * size, noun),
      format: `npy${option}`,
    };
  }

  #bool(): Decoder {
    if (this.#bits !== undefined) {
      throw formError('the array has bool, of which no bits can be chosen: use npy');
    }
    return new BitWordDecoder(BOOL, this.#use);
  }

  #integers(bytes: number, isBig: boolean): Decoder {
    const chosen = this.#bits === undefined ? null : parseBits(this.#bits, 8 * bytes);
    if (this.#bits !== undefined && !chosen) {
      throw formError(
        `bits ${this.#bits} are beyond the ${8 * bytes} bits of the array's integers`,
      );
    }
    const { low, high } = chosen ?? { low: 0, high: 8 * bytes - 1 };
    return new IntegerDecoder({ bytes, isBig, low, high, unused: 'any' }, this.#use);
  }
}
