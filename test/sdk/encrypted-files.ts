/** What tests of encrypted files share: a client of a service in this process, contents, and streams. */
import { createHash } from 'node:crypto';
import { PhmClient } from '../../sdk/src/index.ts';
import { type SealedAnswer, sealedAnswer } from './sealed-keys.ts';
import { GENERATED } from './support.ts';

/** A request for a sealed key, as it was sent. */
interface Ordered {
  readonly security_level: number;
  readonly seal_to: {
    readonly suite: 'MLKEM768-X25519' | 'ML-KEM-1024';
    readonly public_key: string;
  };
  readonly include?: readonly string[];
  readonly labels?: Readonly<Record<string, string>>;
}

/** A client whose service is this process, what it asked for, and what it got. */
interface Site {
  readonly phm: PhmClient;
  readonly orders: Ordered[];
  readonly answers: SealedAnswer[];
}

/** Each client gets one key: the sealed keys of tests have one key ID. */
export function site(change: (answer: SealedAnswer) => object = (answer) => answer): Site {
  const orders: Ordered[] = [];
  const answers: SealedAnswer[] = [];
  const fetch = async (_url: string | URL, init?: RequestInit): Promise<Response> => {
    const order = JSON.parse(String(init?.body)) as Ordered;
    const { suite, public_key } = order.seal_to;
    const publicKey = Buffer.from(public_key, 'base64url');
    const { answer } = await sealedAnswer({ suite, publicKey });
    orders.push(order);
    answers.push(answer);
    const { key: _, hash_proof: __, ...facts } = GENERATED;
    const { receipt, ...sealed } = answer;
    const added = order.include
      ? { receipt, receipt_url: `/api/v2/keys/${answer.key_id}/receipt` }
      : {};
    const body = {
      ...facts,
      ...(order.labels ? { labels: order.labels } : {}),
      ...change({ ...sealed, ...added } as SealedAnswer),
    };
    const id = new Headers(init?.headers).get('X-Request-Id') ?? '';
    return Response.json({ success: true, ...body }, { headers: { 'X-Request-Id': id } });
  };
  const phm = new PhmClient({ baseUrl: 'http://127.0.0.1:1', apiKey: 'key', fetch });
  return { phm, orders, answers };
}

/** Content that no two places share for long: byte i is i mod 251, which is prime to the sizes of segments. */
export function content(bytes: number): Uint8Array<ArrayBuffer> {
  const all = new Uint8Array(bytes);
  for (let i = 0; i < bytes; i += 1) all[i] = i % 251;
  return all;
}

/** Yields bytes in chunks of one size. */
export async function* inChunks(bytes: Uint8Array, size = 50_000): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.slice(at, at + size);
}

export async function collect(chunks: AsyncIterable<Uint8Array>): Promise<Buffer> {
  return Buffer.concat(await Array.fromAsync(chunks));
}

export function sha256(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}
