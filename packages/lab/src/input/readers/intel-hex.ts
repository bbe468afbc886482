/** Intel HEX (Intel, Hexadecimal Object File Format Specification, 1988): records with addresses and checksums. */
import { formError } from './decoder.ts';
import { bytesOfHex, LineDecoder } from './lines.ts';

const DATA = 0;
const END = 1;
const SEGMENT = 2;
const START_SEGMENT = 3;
const LINEAR = 4;
const START_LINEAR = 5;

/** Data bytes of each type but `DATA`. */
const LENGTHS: Readonly<Record<number, number>> = {
  [END]: 0,
  [SEGMENT]: 2,
  [START_SEGMENT]: 4,
  [LINEAR]: 2,
  [START_LINEAR]: 4,
};

export class IntelHexDecoder extends LineDecoder {
  /** Added to the addresses of records. */
  #base = 0;
  /** The address that must follow; null before the first byte. */
  #next: number | null = null;
  #hasEnded = false;

  protected takeLine(line: string, number: number): void {
    const fault = (text: string): Error => formError(`line ${number}: ${text}`);
    if (this.#hasEnded) throw fault('found more after the end record');
    const text = line.trim();
    const bytes = text.startsWith(':') ? bytesOfHex(text.slice(1)) : null;
    if (!bytes) throw fault('expected an Intel HEX record: a colon and pairs of digits');
    const [count = 0, high = 0, low = 0, type = 0] = bytes;
    if (bytes.length < 5 || bytes.length !== count + 5) {
      throw fault(`the record has ${Math.max(0, bytes.length - 5)} data bytes and says ${count}`);
    }
    const sum = bytes.reduce((total, byte) => total + byte, 0) & 0xff;
    if (sum !== 0) throw fault('the checksum is wrong');
    const data = bytes.slice(4, 4 + count);
    if (type === DATA) this.#takeData((high << 8) | low, data, fault);
    else this.#takeOther(type, data, fault);
  }

  #takeData(offset: number, data: Uint8Array, fault: (text: string) => Error): void {
    if (data.length === 0) return;
    const address = this.#base + offset;
    const expected = this.#next ?? address;
    if (address !== expected) {
      const what = address > expected ? 'leaves a gap after' : 'overlaps what ends at';
      throw fault(
        `address 0x${address.toString(16)} ${what} 0x${expected.toString(16)}: write each part to a file of its own`,
      );
    }
    // Within a segment of 64 KiB, addresses begin again at its start.
    if (offset + data.length > 0x10000) throw fault('the record goes beyond its segment');
    this.#next = address + data.length;
    this.emit(data);
  }

  #takeOther(type: number, data: Uint8Array, fault: (text: string) => Error): void {
    const length = LENGTHS[type];
    if (length === undefined) throw fault(`record type ${type} is not known`);
    if (data.length !== length) throw fault(`a record of type ${type} has ${length} data bytes`);
    const value = data.reduce((all, byte) => all * 256 + byte, 0);
    if (type === END) this.#hasEnded = true;
    if (type === SEGMENT) this.#base = 16 * value;
    if (type === LINEAR) this.#base = 0x10000 * value;
  }

  protected finish(): void {
    if (!this.#hasEnded) throw formError('the Intel HEX has no end record: it is cut off');
  }
}
