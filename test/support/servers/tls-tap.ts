/** A relay that reads the unencrypted part of a TLS 1.3 handshake (RFC 8446 §4.1). */
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server } from 'node:net';

/** Numbers of the IANA registry "TLS Supported Groups". */
export const GROUPS = {
  P256: 0x0017,
  P384: 0x0018,
  X25519: 0x001d,
  SecP256r1MLKEM768: 0x11eb,
  X25519MLKEM768: 0x11ec,
  SecP384r1MLKEM1024: 0x11ed,
} as const;

/** Numbers of the IANA registry "TLS Cipher Suites". */
export const SUITES = {
  AES_128_GCM: 0x1301,
  AES_256_GCM: 0x1302,
  CHACHA20_POLY1305: 0x1303,
} as const;

/** Descriptions of alerts (RFC 8446 §6). */
export const ALERTS = { handshakeFailure: 40, protocolVersion: 70 } as const;

interface ClientHello {
  readonly suites: readonly number[];
  readonly groups: readonly number[];
  /** Groups for which the client sent a share. */
  readonly shares: readonly number[];
  /** 0: psk_ke, without a key exchange; 1: psk_dhe_ke. */
  readonly pskModes: readonly number[];
}

export interface ServerHello {
  /** True for a HelloRetryRequest, which asks for a share of `group`. */
  readonly isRetry: boolean;
  readonly version: number;
  readonly suite: number;
  /** Group of the key share; null if there is none. */
  readonly group: number | null;
  /** True if the server accepted the session that the client offered. */
  readonly isResumed: boolean;
}

/** The unencrypted messages of one connection. */
export interface Handshake {
  readonly clientHellos: readonly ClientHello[];
  readonly serverHellos: readonly ServerHello[];
  /** Descriptions of the server's alerts. */
  readonly alerts: readonly number[];
}

const RECORD = { alert: 21, handshake: 22 };
const MESSAGE = { clientHello: 1, serverHello: 2 };
const EXTENSION = { groups: 10, preSharedKey: 41, versions: 43, pskModes: 45, keyShare: 51 };

/** SHA-256 of "HelloRetryRequest", which replaces the server's random bytes (§4.1.3). */
const RETRY_RANDOM = 'cf21ad74e59a6111be1d8c021e65b891c2a211167abb8c5e079e09e2c8a8339c';

/** Reads fields in order. */
class Fields {
  readonly #bytes: Buffer;
  #at = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  get left(): number {
    return this.#bytes.length - this.#at;
  }

  take(length: number): Buffer {
    if (length > this.left) throw new RangeError(`expected ${length} bytes, got ${this.left}`);
    this.#at += length;
    return this.#bytes.subarray(this.#at - length, this.#at);
  }

  number(bytes: number): number {
    return this.take(bytes).readUIntBE(0, bytes);
  }

  /** Reads bytes preceded by their length in `lengthBytes` bytes. */
  vector(lengthBytes: number): Fields {
    return new Fields(this.take(this.number(lengthBytes)));
  }

  numbers(bytes: number): number[] {
    const all: number[] = [];
    while (this.left > 0) all.push(this.number(bytes));
    return all;
  }
}

/** Returns the complete records of a stream, in order. */
function records(stream: Buffer): { type: number; content: Buffer }[] {
  const found: { type: number; content: Buffer }[] = [];
  for (let at = 0; at + 5 <= stream.length; ) {
    const end = at + 5 + stream.readUInt16BE(at + 3);
    if (end > stream.length) break;
    found.push({ type: stream.readUInt8(at), content: stream.subarray(at + 5, end) });
    at = end;
  }
  return found;
}

/** Returns the bodies of messages of one type. All tested implementations send each of them alone in a record. */
function messages(stream: Buffer, type: number): Fields[] {
  return records(stream)
    .filter((record) => record.type === RECORD.handshake && record.content[0] === type)
    .map(({ content }) => new Fields(content.subarray(1)).vector(3));
}

function extensions(fields: Fields): Map<number, Fields> {
  const all = new Map<number, Fields>();
  while (fields.left > 0) all.set(fields.number(2), fields.vector(2));
  return all;
}

function readClientHello(fields: Fields): ClientHello {
  fields.take(2 + 32);
  fields.vector(1);
  const suites = fields.vector(2).numbers(2);
  fields.vector(1);
  const found = extensions(fields.vector(2));
  const shares: number[] = [];
  for (const list = found.get(EXTENSION.keyShare)?.vector(2); list && list.left > 0; ) {
    shares.push(list.number(2));
    list.vector(2);
  }
  const groups = found.get(EXTENSION.groups)?.vector(2).numbers(2) ?? [];
  const pskModes = found.get(EXTENSION.pskModes)?.vector(1).numbers(1) ?? [];
  return { suites, groups, shares, pskModes };
}

function readServerHello(fields: Fields): ServerHello {
  const legacyVersion = fields.number(2);
  const isRetry = fields.take(32).toString('hex') === RETRY_RANDOM;
  fields.vector(1);
  const suite = fields.number(2);
  fields.take(1);
  // Before TLS 1.3 there may be none.
  const found = fields.left > 0 ? extensions(fields.vector(2)) : new Map<number, Fields>();
  const group = found.get(EXTENSION.keyShare)?.number(2) ?? null;
  const version = found.get(EXTENSION.versions)?.number(2) ?? legacyVersion;
  return { isRetry, version, suite, group, isResumed: found.has(EXTENSION.preSharedKey) };
}

/** Reads a client's first messages, such as the hello of a client that got no answer. */
export function readClientHellos(stream: Buffer): ClientHello[] {
  return messages(stream, MESSAGE.clientHello).map(readClientHello);
}

/** Reads a server's first messages. */
export function readServerHellos(stream: Buffer): ServerHello[] {
  return messages(stream, MESSAGE.serverHello).map(readServerHello);
}

/** Reads the descriptions of the alerts that are not encrypted. */
export function readAlerts(stream: Buffer): number[] {
  return records(stream)
    .filter(({ type }) => type === RECORD.alert)
    .map(({ content }) => content[1] ?? 0);
}

export class TlsTap {
  readonly port: number;
  readonly #server: Server;
  readonly #streams: { sent: Buffer; received: Buffer }[] = [];

  private constructor(server: Server, targetPort: number) {
    this.#server = server;
    this.port = (server.address() as AddressInfo).port;
    server.on('connection', (inner) => {
      const stream = { sent: Buffer.alloc(0), received: Buffer.alloc(0) };
      this.#streams.push(stream);
      const outer = connect(targetPort, '127.0.0.1');
      inner.on('data', (chunk: Buffer) => {
        stream.sent = Buffer.concat([stream.sent, chunk]);
      });
      outer.on('data', (chunk: Buffer) => {
        stream.received = Buffer.concat([stream.received, chunk]);
      });
      inner.pipe(outer).pipe(inner);
      inner.on('error', () => outer.destroy());
      outer.on('error', () => inner.destroy());
    });
  }

  /** Relays connections to a port of this machine. */
  static async start(targetPort: number): Promise<TlsTap> {
    const server = createServer();
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return new TlsTap(server, targetPort);
  }

  /** Returns the handshakes since the last call. */
  take(): Handshake[] {
    return this.#streams.splice(0).map(({ sent, received }) => ({
      clientHellos: readClientHellos(sent),
      serverHellos: readServerHellos(received),
      alerts: readAlerts(received),
    }));
  }

  close(): void {
    this.#server.close();
  }
}
