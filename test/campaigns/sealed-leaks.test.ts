/**
 * No byte of a sealed key leaves the service in the clear: 10,000 keys in both suites, on both stores, made through a
 * proxy that records everything. Their recipients open them all. Then neither the keys nor their openings are in the
 * recording, logs, traces, metrics, files, databases, the output of commands, or (Linux, SQLite) the server's memory.
 * Controls show that the search finds a secret in each form, and that it reads each place.
 */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { describe, it, type TestContext } from 'node:test';
import { inspect } from 'node:util';
import type { RecipientKey } from '#sealing';
import { type Call, makeCall, newRecipients } from '../support/clients/idempotent-calls.ts';
import { LogSite } from '../support/ledgers/log-site.ts';
import { noPostgres } from '../support/ledgers/postgres.ts';
import { type Form, LeakSearch } from '../support/servers/leak-search.ts';
import { WatchedSite } from '../support/servers/watched-site.ts';

/** Name of what the site carries to every place, which shows that the place is read. */
const CANARY = 'the canary';

/** Keys for each recipient; with two suites and two stores 10,000 in all. */
const KEYS_OF_RECIPIENT = 2_500;

type Write = (secret: Buffer) => string | Buffer;

/** Bytes before the secret that give each alignment of base64. */
const ALIGNMENTS = [0, 1, 2];

const encoded = (encoding: 'base64' | 'base64url', before: number): Write => {
  const [head, tail] = [randomBytes(before), randomBytes(7)];
  return (secret) => Buffer.concat([head, secret, tail]).toString(encoding);
};

/** Ways in which a program might write a secret. */
const WAYS: readonly [name: string, form: Form, write: Write][] = [
  ['raw bytes', 'raw', (secret) => secret],
  ['a piece of raw bytes', 'raw', (secret) => secret.subarray(3, 16)],
  ['hexadecimal', 'hexadecimal', (secret) => secret.toString('hex')],
  ['upper-case hexadecimal', 'hexadecimal', (secret) => secret.toString('hex').toUpperCase()],
  ['hexadecimal in lines', 'hexadecimal', (secret) => breakLines(secret.toString('hex'))],
  ['a buffer in a message', 'hexadecimal', (secret) => inspect(secret)],
  ...ALIGNMENTS.flatMap((before): [string, Form, Write][] => [
    [`base64 after ${before} bytes`, 'base64', encoded('base64', before)],
    [`base64url after ${before} bytes`, 'base64', encoded('base64url', before)],
  ]),
  ['base64 in lines', 'base64', (secret) => breakLines(secret.toString('base64'))],
  ['base64 in JSON', 'base64', (secret) => secret.toString('base64').replaceAll('/', '\\/')],
  ['a buffer in JSON', 'decimal', (secret) => JSON.stringify(secret)],
  ['an array in JSON', 'decimal', (secret) => JSON.stringify(new Uint8Array(secret))],
];

function breakLines(text: string): string {
  return text.replace(/.{10}/g, '$&\r\n');
}

describe('the search for leaks', () => {
  const noise = randomBytes(2 ** 16);
  const texts = [noise.toString('hex'), noise.toString('base64'), JSON.stringify(noise)];
  const others = Buffer.concat([noise, Buffer.from(texts.join('\n'))]);
  const search = new LeakSearch();
  const secrets = [16, 32, 48].map((length) => randomBytes(length));
  for (const secret of secrets) search.add(secret.toString('hex'), secret);
  for (let i = 0; i < 10_000; i++) search.add(`another ${i}`, randomBytes(32));

  it('finds nothing among other bytes', () => {
    assert.deepEqual(search.search(others), []);
  });

  for (const [name, form, write] of WAYS) {
    it(`finds ${name}`, () => {
      for (const secret of secrets) {
        const planted = [others, Buffer.from('"."'), Buffer.from(write(secret)), others];
        const leaks = search.search(Buffer.concat(planted));
        const found = new Set(leaks.map((leak) => `${leak.secret} ${leak.form}`));
        assert.deepEqual([...found], [`${secret.toString('hex')} ${form}`]);
      }
    });
  }
});

/**
 * Returns calls for 2,500 keys: batches and single keys, plain and validated, with and without receipts, a few of them for
 * `others` too.
 */
function callsTo(recipient: RecipientKey, others: readonly RecipientKey[]): Call[] {
  const plain = (level: number) => ({ security_level: level });
  const validated = (level: number) => ({ ...plain(level), enable_nist_validation: true });
  const include = ['receipt'];
  const singles = Array.from({ length: 50 }, (_, i) => {
    const level = [128, 256, 384][i % 3] ?? 0;
    return [plain(level), { ...plain(level), include }, validated(level), plain(level)];
  });
  return [
    makeCall(plain(256), recipient, 1_000),
    makeCall(plain(128), recipient, 770),
    makeCall({ ...plain(384), include }, recipient, 19, others),
    makeCall(validated(128), recipient, null, others),
    ...[128, 256, 384, 256, 128].map((level) =>
      makeCall({ ...plain(level), include }, recipient, 100),
    ),
    // Few enough that a slow machine tests them within the time limit of a request.
    makeCall(validated(384), recipient, 5),
    makeCall({ ...validated(256), include }, recipient, 5),
    ...singles.flat().map((fields) => makeCall(fields, recipient)),
  ];
}

async function searchSite(test: TestContext, site: LogSite): Promise<void> {
  const watched = await WatchedSite.start(site);
  try {
    const recipients = await newRecipients();
    const calls = recipients.flatMap((one) =>
      callsTo(
        one,
        recipients.filter((other) => other !== one),
      ),
    );
    const figures = await watched.makeKeys(calls);
    assert.equal(watched.keys, recipients.length * KEYS_OF_RECIPIENT);
    await watched.lookAround(calls.at(-1) as Call);

    for (const { privateKey, suite } of recipients) {
      watched.search.add(`the private key of ${suite}`, privateKey);
    }
    watched.search.add(CANARY, watched.canary);
    let searched = 0;
    for (const { name, bytes, hasCanary } of await watched.places()) {
      const leaks = watched.search.search(bytes);
      const secrets = leaks.filter(({ secret }) => secret !== CANARY);
      assert.deepEqual(secrets.slice(0, 10), [], name);
      assert.equal(leaks.length > 0, hasCanary, `${CANARY} in ${name}`);
      searched += bytes.length;
    }
    test.diagnostic(
      `${figures}; ${watched.search.size} secrets searched for in ${Math.round(searched / 2 ** 20)} MiB`,
    );
  } finally {
    await watched.remove();
  }
}

describe('a sealed key is nowhere in the clear', () => {
  it('with SQLite', (test) => searchSite(test, LogSite.sqlite()));

  it('with PostgreSQL', { skip: noPostgres }, async (test) =>
    searchSite(test, await LogSite.postgres()),
  );
});
