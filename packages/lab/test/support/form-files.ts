/** Makes files of many forms from bytes, as the programs of others write them. */

/** Intel HEX with 16 bytes a record, as `objcopy -I binary -O ihex` writes it. */
export function intelHex(bytes: Uint8Array): string {
  const lines: string[] = [];
  const record = (address: number, type: number, data: Uint8Array): void => {
    const body = Uint8Array.of(data.length, address >> 8, address & 255, type, ...data);
    const sum = body.reduce((total, byte) => total + byte, 0);
    lines.push(`:${hex(body)}${hex(Uint8Array.of(-sum & 255))}`.toUpperCase());
  };
  for (let at = 0; at < bytes.length; at += 16) {
    if (at > 0 && at % 0x10000 === 0) record(0, 4, Uint8Array.of(at >> 24, (at >> 16) & 255));
    record(at & 0xffff, 0, bytes.subarray(at, at + 16));
  }
  record(0, 1, new Uint8Array(0));
  return `${lines.join('\r\n')}\r\n`;
}

/** S-records with 16 bytes a record and a count. */
export function sRecords(bytes: Uint8Array): string {
  const lines: string[] = [];
  const record = (type: number, address: readonly number[], data: Uint8Array): void => {
    const body = Uint8Array.of(address.length + data.length + 1, ...address, ...data);
    const sum = body.reduce((total, byte) => total + byte, 0);
    lines.push(`S${type}${hex(body)}${hex(Uint8Array.of(~sum & 255))}`.toUpperCase());
  };
  record(0, [0, 0], Buffer.from('maker'));
  let records = 0;
  for (let at = 0; at < bytes.length; at += 16, records++) {
    record(2, [at >> 16, (at >> 8) & 255, at & 255], bytes.subarray(at, at + 16));
  }
  record(5, [records >> 8, records & 255], new Uint8Array(0));
  record(8, [0, 0, 0], new Uint8Array(0));
  return `${lines.join('\n')}\n`;
}

/** As `od -A d|o|x -tx1` writes it. */
export function odListing(bytes: Uint8Array, base: 8 | 10 | 16 = 8): string {
  const offset = (at: number): string => at.toString(base).padStart(base === 16 ? 6 : 7, '0');
  const lines = parts(bytes, 16).map((part, i) => `${offset(16 * i)} ${spaced(part, 1)}`);
  return `${[...lines, offset(bytes.length)].join('\n')}\n`;
}

/** As `xxd` writes it. */
export function xxdListing(bytes: Uint8Array): string {
  const lines = parts(bytes, 16).map(
    (part, i) =>
      `${(16 * i).toString(16).padStart(8, '0')}: ${spaced(part, 2).padEnd(39)}  ${shown(part)}`,
  );
  return `${lines.join('\n')}\n`;
}

/** As `hexdump -C` writes it. */
export function canonicalListing(bytes: Uint8Array): string {
  const offset = (at: number): string => at.toString(16).padStart(8, '0');
  const lines = parts(bytes, 16).map((part, i) => {
    const halves = [part.subarray(0, 8), part.subarray(8)].map((half) => spaced(half, 1));
    return `${offset(16 * i)}  ${halves.join('  ').padEnd(48)}  |${shown(part)}|`;
  });
  return `${[...lines, offset(bytes.length)].join('\n')}\n`;
}

/** As `numpy.save` writes it. `descr` such as `<u2`, `|b1`. */
export function npy(data: Uint8Array, descr: string, shape: string, fortran = 'False'): Buffer {
  const text = `{'descr': '${descr}', 'fortran_order': ${fortran}, 'shape': (${shape}), }`;
  const length = Math.ceil((10 + text.length + 1) / 64) * 64 - 10;
  const head = Buffer.alloc(10);
  head.write('\x93NUMPY\x01\x00', 'latin1');
  head.writeUInt16LE(length, 8);
  return Buffer.concat([head, Buffer.from(`${text.padEnd(length - 1)}\n`), data]);
}

interface WavParts {
  readonly channels?: number;
  readonly bits?: number;
  readonly tag?: number;
  /** Chunks before and after the data. */
  readonly before?: readonly Buffer[];
  readonly after?: readonly Buffer[];
}

/** As Python's `wave` writes it, with further chunks. */
export function wav(data: Uint8Array, parts: WavParts = {}): Buffer {
  const { channels = 1, bits = 16, tag = 1, before = [], after = [] } = parts;
  const format = Buffer.alloc(16);
  format.writeUInt16LE(tag, 0);
  format.writeUInt16LE(channels, 2);
  format.writeUInt32LE(48_000, 4);
  format.writeUInt32LE((48_000 * channels * bits) / 8, 8);
  format.writeUInt16LE((channels * bits) / 8, 12);
  format.writeUInt16LE(bits, 14);
  const body = Buffer.concat([
    Buffer.from('WAVE'),
    chunk('fmt ', format),
    ...before,
    chunk('data', data),
    ...after,
  ]);
  return chunk('RIFF', body);
}

export function chunk(name: string, data: Uint8Array): Buffer {
  const head = Buffer.alloc(8);
  head.write(name);
  head.writeUInt32LE(data.length, 4);
  return Buffer.concat([head, data, Buffer.alloc(data.length % 2)]);
}

function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex');
}

function parts(bytes: Uint8Array, size: number): Uint8Array[] {
  return Array.from({ length: Math.ceil(bytes.length / size) }, (_, i) =>
    bytes.subarray(size * i, size * (i + 1)),
  );
}

function spaced(bytes: Uint8Array, size: number): string {
  return parts(bytes, size).map(hex).join(' ');
}

function shown(bytes: Uint8Array): string {
  return String.fromCharCode(...bytes.map((byte) => (byte >= 0x20 && byte < 0x7f ? byte : 0x2e)));
}
