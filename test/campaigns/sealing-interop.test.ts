/**
 * Sealed keys as Go's own crypto/hpke sees them: it opens what `seal` and the running service sealed, and what it seals
 * opens here. 10 s.
 */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import {
  formatRecipientKey,
  newRecipient,
  openSealedKey,
  type Recipient,
  SEAL_SUITES,
  type SealedKey,
  sealTo,
} from '../../sdk/src/index.ts';
import { sealedAnswer, severalAnswer } from '../sdk/sealed-keys.ts';
import { LogSite } from '../support/ledgers/log-site.ts';
import { buildGo, noGo, type Result, run, SEALING } from '../support/programs/go.ts';
import { makeDataDir, removeDataDir, type Server } from '../support/servers/server.ts';

const LEVELS = [128, 256, 384];
const SUITES = SEAL_SUITES.map(({ name }) => name);

const folder = makeDataDir();
after(() => removeDataDir(folder));
const skip = noGo() ?? (await buildGo(folder, ['.'], SEALING));
if (skip !== undefined) process.stderr.write(`sealing-interop: skipped: ${skip}\n`);

/** What Go found in a sealed key. */
interface Opened {
  readonly header: Readonly<Record<string, unknown>>;
  readonly content: { readonly hash_proof: string; readonly key: string; readonly opening: string };
  readonly digest: string;
}

/** A line of test/vectors/sealing/sealed-keys.json. */
interface Vector {
  readonly recipient_key: unknown;
  readonly sealed_key: SealedKey;
  readonly content: Opened['content'];
  readonly sealed_digest: string;
}

/** Runs the program with one line of JSON for each sealed key. */
function go(what: 'open' | 'seal', lines: readonly unknown[]): Promise<Result> {
  const input = lines.map((line) => JSON.stringify(line)).join('\n');
  return run(join(folder, 'sealing'), [what], { input });
}

async function openByGo(
  lines: readonly { readonly recipient_key: unknown; readonly sealed_key: SealedKey }[],
): Promise<Opened[]> {
  const { code, output } = await go('open', lines);
  assert.equal(code, 0, output);
  return parseLines(output);
}

function parseLines<T>(output: string): T[] {
  return output
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
}

describe("sealed keys under Go's crypto/hpke", { skip: skip ?? false }, () => {
  it('open, as the vectors of this project say', async () => {
    const file = new URL('../vectors/sealing/sealed-keys.json', import.meta.url);
    const vectors: Vector[] = JSON.parse(readFileSync(file, 'utf8'));
    assert.equal(vectors.length, SUITES.length * LEVELS.length);
    // The program refuses members that it does not know.
    const opened = await openByGo(
      vectors.map(({ recipient_key, sealed_key }) => ({ recipient_key, sealed_key })),
    );
    for (const [i, { content, sealed_digest }] of vectors.entries()) {
      assert.deepEqual(opened[i]?.content, content);
      assert.equal(opened[i]?.digest, sealed_digest);
    }
  });

  it('of several recipients open, and not with other recipients in their headers', async () => {
    const file = new URL('../vectors/sealing/several.json', import.meta.url);
    for (const { content, copies } of JSON.parse(readFileSync(file, 'utf8'))) {
      const opened = await openByGo(
        copies.map(({ recipient_key, sealed_key }: Vector) => ({ recipient_key, sealed_key })),
      );
      for (const [i, { sealed_digest }] of copies.entries()) {
        assert.deepEqual(opened[i]?.content, content);
        assert.equal(opened[i]?.digest, sealed_digest);
      }
    }
    const keys = [await newRecipient(), await newRecipient('ML-KEM-1024')];
    const { answer, key } = await severalAnswer(keys);
    const lines = keys.map((one, i) => ({
      recipient_key: JSON.parse(formatRecipientKey(one)),
      sealed_key: answer.sealed_keys[i] as SealedKey,
    }));
    for (const { content } of await openByGo(lines)) {
      assert.equal(content.key, key.toString('hex'));
    }
    const [line] = lines;
    const header = JSON.parse(Buffer.from(line?.sealed_key.header ?? '', 'base64url').toString());
    for (const [change, message] of [
      [{ recipients: header.recipients.slice(0, 1) }, /too few/],
      [{ recipients: header.recipients.toReversed() }, /failed|auth/],
      [{ type: 'phm-sealed-key/v1' }, /first type/],
    ] as const) {
      const text = Buffer.from(JSON.stringify({ ...header, ...change })).toString('base64url');
      const sealed_key = { ...line?.sealed_key, header: text };
      const { code, output } = await go('open', [{ ...line, sealed_key }]);
      assert.notEqual(code, 0, output);
      assert.match(output, message);
    }
  });

  it('open here when Go sealed them', async () => {
    for (const suite of SUITES) {
      for (const bits of LEVELS) {
        const recipient = await newRecipient(suite);
        const { answer, key, opening } = await sealedAnswer(recipient, { bits });
        const { key_id, security_level, time, key_commitment, service } = answer.receipt.statement;
        const { code, output } = await go('seal', [
          {
            recipient: { type: 'phm-recipient/v1', ...sealTo(recipient) },
            header: { key_id, security_level, time, key_commitment, service },
            content: {
              hash_proof: 'proof_<&>',
              key: key.toString('hex'),
              opening: opening.toString('base64'),
            },
          },
        ]);
        assert.equal(code, 0, output);
        const opened = await openSealedKey(output, recipient);
        assert.deepEqual(Buffer.from(opened.key), key);
        assert.deepEqual(Buffer.from(opened.opening), opening);
        assert.equal(opened.hashProof, 'proof_<&>');
      }
    }
  });

  it('do not open after a change of header, ciphertext or key', async () => {
    const recipient = await newRecipient();
    const recipient_key = JSON.parse(formatRecipientKey(recipient));
    const { answer } = await sealedAnswer(recipient);
    const { sealed_key } = answer;
    const header = JSON.parse(Buffer.from(sealed_key.header, 'base64url').toString());
    const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
    const other = await sealedAnswer(recipient);
    for (const [change, message] of [
      [{ header: encode({ ...header, time: header.time.replace('2027', '2028') }) }, /failed|auth/],
      [{ header: encode({ ...header, extra: 1 }) }, /unknown field/],
      [{ header: other.answer.sealed_key.header }, /failed|auth/],
      [{ ciphertext: other.answer.sealed_key.ciphertext }, /failed|auth/],
      [{ enc: randomBytes(1120).toString('base64url') }, /failed|auth/],
    ] as const) {
      const { code, output } = await go('open', [
        { recipient_key, sealed_key: { ...sealed_key, ...change } },
      ]);
      assert.notEqual(code, 0, output);
      assert.match(output, message);
    }
  });

  describe('of the running service', () => {
    const site = LogSite.sqlite();
    let server: Server;

    before(async () => {
      server = await site.start();
    });
    after(async () => {
      await server?.stop();
      await site.remove();
    });

    /** Requests keys for a recipient. Returns the answers, in the form of single ones. */
    async function generate(recipient: Recipient, level: number, count: number) {
      const order = { security_level: level, seal_to: sealTo(recipient), include: ['receipt'] };
      const { status, body } = await server.request(
        `/api/v2/generate/sealed${count > 1 ? '/batch' : ''}`,
        {
          method: 'POST',
          headers: { 'X-API-Key': site.apiKey, 'Content-Type': 'application/json' },
          body: JSON.stringify(count > 1 ? { ...order, count } : order),
        },
      );
      assert.equal(status, 200, JSON.stringify(body));
      return count > 1 ? body.keys : [body];
    }

    for (const suite of SUITES) {
      it(`open, and fit their receipts: ${suite}`, async () => {
        const recipient = await newRecipient(suite);
        const recipient_key = JSON.parse(formatRecipientKey(recipient));
        const answers = [];
        for (const level of LEVELS) {
          answers.push(...(await generate(recipient, level, 1)));
          answers.push(...(await generate(recipient, level, 3)));
        }
        const opened = await openByGo(
          answers.map(({ sealed_key }) => ({ recipient_key, sealed_key })),
        );
        for (const [i, { key_id, security_level, sealed_key, receipt }] of answers.entries()) {
          const { header, content, digest } = opened[i] as Opened;
          assert.equal(header.key_id, key_id);
          assert.equal(header.security_level, security_level);
          assert.equal(header.service, receipt.statement.service);
          assert.equal(header.key_commitment, receipt.statement.key_commitment);
          assert.equal(header.time, receipt.statement.time);
          assert.equal(receipt.statement.sealed_to, header.thumbprint);
          assert.equal(receipt.statement.sealed_digest, digest);
          const { key, verdict } = await openSealedKey({ key_id, sealed_key, receipt }, recipient, {
            policy: await (await fetch(`${server.address}/log/policy`)).text(),
          });
          assert.equal(Buffer.from(key).toString('hex'), content.key);
          assert.equal(verdict?.valid, true);
          assert.ok(!server.log.includes(content.key), 'the log has no key');
        }
      });
    }

    it('leave no warning of Node in the log', () => {
      assert.doesNotMatch(server.log, /Experimental|\(node:\d+\)/);
    });
  });
});
