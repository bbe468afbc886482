/** A witness on loopback that follows c2sp.org/tlog-witness, with switches for what goes wrong. */
import { createHash, generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import {
  decodeBase64,
  ED25519_COSIGNATURE,
  ed25519CosignatureMessage,
  formatSignatureLine,
  formatTimestampedSignature,
  formatVerifierKey,
  keyIdMessage,
  parseVerifierKey,
  readKeyId,
  type VerifierKey,
} from '#tlog';
import { openCheckpoint, verifyConsistency } from '../../../src/log/index.ts';

export class FakeWitness {
  readonly name: string;
  readonly key: VerifierKey;
  /** Requests so far, by the status of the answer. */
  readonly answers: number[] = [];
  size = 0;
  /** Answers this status and body instead of the protocol's. */
  broken: { status: number; body: string } | null = null;
  /** Answers when it is released, or never. */
  hangs = false;
  /** Signs with another key. */
  forges = false;
  /** Shows this instead of the checkpoint that it cosigned last; null: it shows none. */
  shows: 'own' | string | null = 'own';
  /** Seconds by which its clock is ahead. */
  aheadSeconds = 0;
  readonly #logKeys: readonly VerifierKey[];
  readonly #privateKey: KeyObject;
  readonly #server: Server;
  readonly #held: (() => void)[] = [];
  #root: Uint8Array = new Uint8Array();
  /** The checkpoint that it cosigned last, and the address below which it shows it. */
  #shown = { path: '', note: '' };

  constructor(name: string, logKeys: readonly VerifierKey[]) {
    this.name = name;
    this.#logKeys = logKeys;
    const { publicKey, privateKey } = generateKeyPairSync('ed25519');
    this.#privateKey = privateKey;
    const raw = publicKey.export({ format: 'der', type: 'spki' }).subarray(-32);
    const id = createHash('sha256')
      .update(keyIdMessage(name, ED25519_COSIGNATURE, raw))
      .digest();
    const key = { name, keyId: readKeyId(id), type: ED25519_COSIGNATURE, publicKey: raw };
    this.key = parseVerifierKey(formatVerifierKey(key));
    this.#server = createServer(async (request, response) => {
      let body = '';
      for await (const chunk of request) body += chunk;
      if (this.hangs) await new Promise<void>((resolve) => this.#held.push(resolve));
      const answer = this.broken ?? this.#answer(request.url ?? '', body);
      this.answers.push(answer.status);
      response.writeHead(answer.status, { 'Content-Type': 'text/plain' }).end(answer.body);
    });
  }

  async start(): Promise<string> {
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Answers what it holds, and what comes. */
  release(): void {
    this.hangs = false;
    for (const resolve of this.#held.splice(0)) resolve();
  }

  stop(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }

  #answer(path: string, body: string): { status: number; body: string } {
    const end = body.indexOf('\n\n');
    const [old = '', ...proofLines] = body.slice(0, end).split('\n');
    const note = body.slice(end + 2);
    if (path === this.#shown.path && this.shows !== null) {
      return { status: 200, body: this.shows === 'own' ? this.#shown.note : this.shows };
    }
    if (path !== '/add-checkpoint') return { status: 404, body: '' };
    const { checkpoint, note: parsed } = openCheckpoint(note, this.#logKeys);
    const oldSize = Number(/^old (\d+)$/.exec(old)?.[1]);
    if (!(oldSize <= checkpoint.size)) return { status: 400, body: '' };
    if (oldSize !== this.size) return { status: 409, body: `${this.size}\n` };
    const proof = proofLines.map(decodeBase64);
    const isNext =
      this.size === 0
        ? proof.length === 0
        : verifyConsistency({
            from: this.size,
            fromRoot: this.#root,
            to: checkpoint.size,
            toRoot: checkpoint.root,
            proof,
          });
    if (!isNext) return { status: 422, body: '' };
    this.size = checkpoint.size;
    this.#root = checkpoint.root;
    const hash = createHash('sha256').update(checkpoint.origin).digest('hex');
    const timestamp = Math.floor(Date.now() / 1000) + this.aheadSeconds;
    const message = ed25519CosignatureMessage(timestamp, parsed.text);
    const signature = sign(null, this.forges ? Buffer.from('other') : message, this.#privateKey);
    const { name, keyId } = this.key;
    const line = formatSignatureLine({
      name,
      keyId,
      signature: formatTimestampedSignature({ timestamp, signature }),
    });
    this.#shown = { path: `/${hash}/checkpoint`, note: note + line };
    return {
      status: 200,
      body:
        // A further line, by a key that the client does not know.
        formatSignatureLine({ name: 'other.example', keyId: 7, signature: new Uint8Array(72) }) +
        line,
    };
  }
}
