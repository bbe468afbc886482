/** Motorola S-records: records with addresses and checksums. */
import { formError } from './decoder.ts';
import { bytesOfHex, LineDecoder } from './lines.ts';

/** Bytes of the address of each type. */
const ADDRESS_BYTES: Readonly<Record<string, number>> = {
  0: 2,
  1: 2,
  2: 3,
  3: 4,
  5: 2,
  6: 3,
  7: 4,
  8: 3,
  9: 2,
};

export class SRecordDecoder extends LineDecoder {
  /** The address that must follow; null before the first byte. */
  #next: number | null = null;
  #records = 0;
  #hasEnded = false;

  protected takeLine(line: string, number: number): void {
    const fault = (text: string): Error => formError(`line ${number}: ${text}`);
    if (this.#hasEnded) throw fault('found more after the end record');
    const [, type = '', digits = ''] = /^S(\d)([0-9a-f]*)$/i.exec(line.trim()) ?? [];
    const bytes = bytesOfHex(digits);
    const addressBytes = ADDRESS_BYTES[type];
    if (!bytes || addressBytes === undefined) {
      throw fault('expected an S-record: S, a type and pairs of digits');
    }
    const [count = 0] = bytes;
    if (bytes.length !== count + 1 || count < addressBytes + 1) {
      throw fault(`the record has ${bytes.length - 1} bytes after its count and says ${count}`);
    }
    const sum = bytes.reduce((total, byte) => total + byte, 0) & 0xff;
    if (sum !== 0xff) throw fault('the checksum is wrong');
    const address = bytes.subarray(1, 1 + addressBytes).reduce((all, byte) => all * 256 + byte, 0);
    const data = bytes.slice(1 + addressBytes, -1);
    if ('123'.includes(type)) this.#takeData(address, data, fault);
    else if (type !== '0') this.#takeOther(type, address, data, fault);
  }

  #takeData(address: number, data: Uint8Array, fault: (text: string) => Error): void {
    this.#records++;
    if (data.length === 0) return;
    const expected = this.#next ?? address;
    if (address !== expected) {
      const what = address > expected ? 'leaves a gap after' : 'overlaps what ends at';
      throw fault(
        `address 0x${address.toString(16)} ${what} 0x${expected.toString(16)}: write each part to a file of its own`,
      );
    }
    this.#next = address + data.length;
    this.emit(data);
  }

  #takeOther(type: string, value: number, data: Uint8Array, fault: (text: string) => Error): void {
    if (data.length > 0) throw fault(`a record S${type} has no data`);
    if ('789'.includes(type)) {
      this.#hasEnded = true;
      return;
    }
    // The count of S5 has 16 bits.
    const records = this.#records % (type === '5' ? 2 ** 16 : 2 ** 24);
    if (value !== records) {
      throw fault(`the count of records is ${value}, but there are ${this.#records}`);
    }
  }

  protected finish(): void {
    if (!this.#hasEnded) throw formError('the S-records have no end record: they are cut off');
  }
}
