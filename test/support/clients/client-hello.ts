/**
 * Asks a server with hand-made first messages (RFC 8446 §4.1.2) what it accepts. No library is between: so each number of a
 * registry can be asked, whether OpenSSL knows it or not.
 */
import { createECDH, generateKeyPairSync, randomBytes } from 'node:crypto';
import { connect } from 'node:net';
import { readAlerts, readServerHellos, type ServerHello } from '../servers/tls-tap.ts';

/** What a client offers. */
export interface Offer {
  /** In the extension of TLS 1.3; without it, the client offers `legacyVersion`. */
  readonly versions?: readonly number[];
  readonly legacyVersion?: number;
  readonly suites: readonly number[];
  readonly groups: readonly number[];
  readonly signatures: readonly number[];
  /** Public key for one of the groups. Without it, the server asks for one of a group that it chooses. */
  readonly share?: { readonly group: number; readonly key: Buffer };
}

const u8 = (value: number) => Buffer.from([value]);
const u16 = (value: number) => Buffer.from([value >> 8, value & 0xff]);
const list = (values: readonly number[]) => Buffer.concat(values.map(u16));

/** Returns bytes preceded by their length in two bytes. */
const vector = (...content: readonly Buffer[]) => {
  const bytes = Buffer.concat(content);
  return Buffer.concat([u16(bytes.length), bytes]);
};

const extension = (type: number, content: Buffer) => Buffer.concat([u16(type), vector(content)]);

function clientHello({ versions, legacyVersion = 0x0303, ...offer }: Offer): Buffer {
  const share = offer.share ? [u16(offer.share.group), vector(offer.share.key)] : [];
  const body = Buffer.concat([
    u16(legacyVersion),
    randomBytes(32),
    u8(32),
    randomBytes(32),
    vector(list(offer.suites)),
    Buffer.from([1, 0]),
    vector(
      extension(10, vector(list(offer.groups))),
      extension(11, Buffer.from([1, 0])),
      extension(13, vector(list(offer.signatures))),
      ...(versions
        ? [
            extension(43, Buffer.concat([u8(2 * versions.length), list(versions)])),
            extension(51, vector(...share)),
          ]
        : []),
    ),
  ]);
  return Buffer.concat([u8(1), u8(body.length >> 16), u16(body.length & 0xffff), body]);
}

const RECORD_BYTES = 16_384;

function recordsOf(message: Buffer): Buffer {
  const parts: Buffer[] = [];
  for (let at = 0; at < message.length; at += RECORD_BYTES) {
    parts.push(
      Buffer.from([22, 3, 1]),
      vector(message.subarray(at, Math.min(message.length, at + RECORD_BYTES))),
    );
  }
  return Buffer.concat(parts);
}

/** Sends an offer. Resolves with the server's hello, or with null if it sent an alert instead. */
export function offer(port: number, what: Offer): Promise<ServerHello | null> {
  return new Promise((done, fail) => {
    let received = Buffer.alloc(0);
    const socket = connect(port, '127.0.0.1', () => socket.write(recordsOf(clientHello(what))));
    socket.on('data', (chunk: Buffer) => {
      received = Buffer.concat([received, chunk]);
      const [hello] = readServerHellos(received);
      if (!hello && readAlerts(received).length === 0) return;
      done(hello ?? null);
      socket.destroy();
    });
    socket.on('error', fail);
    socket.on('close', () => fail(new Error('the server closed without an answer')));
  });
}

const NUMBERS = Array.from({ length: 65_536 }, (_, number) => number);

function batches(size: number): number[][] {
  return Array.from({ length: Math.ceil(NUMBERS.length / size) }, (_, i) =>
    NUMBERS.slice(i * size, (i + 1) * size),
  );
}

/**
 * Returns all 16-bit numbers that a server accepts. `ask` offers some and resolves with the one that the server chose, or null.
 */
export async function acceptedNumbers(
  batchSize: number,
  ask: (numbers: readonly number[]) => Promise<number | null>,
): Promise<number[]> {
  const accepted: number[] = [];
  for (const batch of batches(batchSize)) {
    let left = batch;
    for (let one = await ask(left); one !== null; one = await ask(left)) {
      const chosen = one;
      accepted.push(chosen);
      left = left.filter((number) => number !== chosen);
    }
  }
  return accepted.sort((a, b) => a - b);
}

/** As `acceptedNumbers`, where the server does not say which it chose: `ask` resolves with whether it took any. */
export async function acceptedUnnamed(
  batchSize: number,
  ask: (numbers: readonly number[]) => Promise<boolean>,
): Promise<number[]> {
  const within = async (numbers: readonly number[]): Promise<number[]> => {
    if (!(await ask(numbers))) return [];
    if (numbers.length === 1) return [...numbers];
    const middle = numbers.length >> 1;
    return [...(await within(numbers.slice(0, middle))), ...(await within(numbers.slice(middle)))];
  };
  const found: number[] = [];
  for (const batch of batches(batchSize)) found.push(...(await within(batch)));
  return found;
}

function rawKey(type: 'x25519' | 'ml-kem-768' | 'ml-kem-1024', length: number): Buffer {
  const { publicKey } = generateKeyPairSync(type as 'x25519');
  return publicKey.export({ type: 'spki', format: 'der' }).subarray(-length);
}

/** Returns a public key for a group, by its number (RFC 8446 §4.2.8, RFC 10024, draft-ietf-tls-mlkem). */
export function shareFor(group: number): Buffer {
  switch (group) {
    case 0x0018:
      return createECDH('secp384r1').generateKeys();
    case 0x001d:
      return rawKey('x25519', 32);
    case 0x0202:
      return rawKey('ml-kem-1024', 1_568);
    case 0x11ec:
      return Buffer.concat([rawKey('ml-kem-768', 1_184), rawKey('x25519', 32)]);
    default:
      throw new RangeError(`no share for group ${group}`);
  }
}
