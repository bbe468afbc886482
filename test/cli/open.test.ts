/** `phm open`, offline: what it writes, what it says, and one sentence for each bad input. */
import assert from 'node:assert/strict';
import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { type SealedAnswer, sealAnswer } from '../support/clients/sealed-answer.ts';
import { runCommand, runCommandOn } from '../support/servers/run-command.ts';

const FOLDER = mkdtempSync(join(tmpdir(), 'open-'));
after(() => rmSync(FOLDER, { recursive: true, force: true }));
const inFolder = (name: string): string => join(FOLDER, name);

/** An answer of the service, and the key that is sealed in it. */
const sealTo = (name: string, keyId: string) =>
  sealAnswer(readFileSync(inFolder(`${name}.recipient`), 'utf8'), keyId);

function put(name: string, content: unknown): string {
  writeFileSync(inFolder(name), typeof content === 'string' ? content : JSON.stringify(content));
  return inFolder(name);
}

let answer: SealedAnswer;
let key: Buffer;
let recipientKey: string;
before(async () => {
  for (const name of ['ada', 'eve']) {
    await runCommand(['recipient', 'new', '--output', inFolder(name)]);
  }
  recipientKey = inFolder('ada.recipient-key');
  ({ answer, key } = await sealTo('ada', 'phm_1'));
});

const open = (content: unknown, ...args: string[]) =>
  runCommand(['open', put('given', content), '--recipient-key', recipientKey, ...args]);

/** A message that quotes neither a key nor a private key. */
function assertClean(stderr: string): void {
  assert.doesNotMatch(stderr, /\n {4}at /);
  assert.ok(!stderr.includes(key.toString('hex')));
  const { private_key: secret } = JSON.parse(readFileSync(recipientKey, 'utf8'));
  assert.ok(!stderr.includes(secret));
}

describe('phm open', () => {
  it('writes the key and says what it checked, and what not', async () => {
    const { code, stdout, stderr } = await open(answer);
    assert.deepEqual([code, stdout], [0, `${key.toString('hex')}\n`], stderr);
    assert.equal(
      stderr,
      'Opened the 256-bit key phm_1. Checked: it fits its commitment. Not checked: who sealed it, because that takes a ' +
        'receipt and --policy.\n',
    );
  });

  it('takes sealed_key alone, a batch of one, and standard input', async () => {
    for (const content of [answer.sealed_key, { success: true, count: 1, keys: [answer] }]) {
      assert.equal((await open(content)).stdout, `${key.toString('hex')}\n`);
    }
    const args = ['open', '-', '--recipient-key', recipientKey];
    const piped = await runCommandOn(JSON.stringify(answer), args);
    assert.equal(piped.stdout, `${key.toString('hex')}\n`);
  });

  it('writes each format as generate does, to a file of its owner', async () => {
    const forms: [string[], string | Buffer][] = [
      [['--format', 'base64'], `${key.toString('base64')}\n`],
      [['--format', 'raw'], key],
      [['--format', 'env', '--env-name', 'K'], `K=${key.toString('hex')}\n`],
    ];
    for (const [form, expected] of forms) {
      const path = inFolder(`out-${form[1]}`);
      const { code, stdout, stderr } = await open(answer, '--output', path, ...form);
      assert.deepEqual([code, stdout], [0, ''], stderr);
      assert.deepEqual(readFileSync(path), Buffer.from(expected));
      assert.equal(statSync(path).mode & 0o777, 0o600);
    }
    const whole = JSON.parse((await open(answer, '--json')).stdout);
    assert.deepEqual([whole.key, whole.hash_proof], [key.toString('hex'), 'proof_1']);
    assert.equal(Buffer.from(whole.opening, 'base64').length, 32);
  });

  it('replaces a file only with --force, and none if the key does not open', async () => {
    const path = put('there.key', 'old');
    assert.match((await open(answer, '--output', path)).stderr, /there\.key exists/);
    const broken = { ...answer, key_id: 'phm_2' };
    assert.equal((await open(broken, '--output', path, '--force')).code, 1);
    assert.equal(readFileSync(path, 'utf8'), 'old');
    assert.equal((await open(broken, '--output', inFolder('new.key'))).code, 1);
    assert.ok(!existsSync(inFolder('new.key')));
    assert.equal((await open(answer, '--output', path, '--force')).code, 0);
    assert.equal(readFileSync(path, 'utf8'), `${key.toString('hex')}\n`);
  });

  it('opens several keys into a directory', async () => {
    const [second, third] = [await sealTo('ada', 'phm_2'), await sealTo('ada', 'phm_3')];
    const batch = put('batch', { keys: [answer, second.answer] });
    const single = put('single', third.answer);
    const args = ['open', batch, single, '--recipient-key', recipientKey];
    const refused = await runCommand(args);
    assert.match(refused.stderr, /there are 3 keys: write them with --output-dir DIR/);
    const directory = inFolder('opened');
    const { code, stdout, stderr } = await runCommand([...args, '--output-dir', directory]);
    assert.deepEqual([code, stdout], [0, ''], stderr);
    assert.match(stderr, /^Opened 3 keys, to \/.*opened\. Checked: each fits .* Not checked: /);
    assert.deepEqual(readdirSync(directory).toSorted(), ['phm_1.key', 'phm_2.key', 'phm_3.key']);
    assert.equal(
      readFileSync(join(directory, 'phm_3.key'), 'utf8'),
      `${third.key.toString('hex')}\n`,
    );
    const again = await runCommand([...args, '--output-dir', directory]);
    assert.match(again.stderr, /phm_1\.key exists/);
    rmSync(join(directory, 'phm_1.key'));
    const resumed = await runCommand([...args, '--output-dir', directory]);
    assert.match(resumed.stderr, /phm_2\.key exists.*\nThe first key is in \/.*opened\n/);
  });

  it('refuses what is no sealed key, or not for this recipient, in one sentence', async () => {
    const { sealed_key: sealedKey } = answer;
    const flipped = sealedKey.ciphertext.replace(/^./, (first) => (first === 'A' ? 'B' : 'A'));
    const cases: [unknown, RegExp][] = [
      ['', /given has no sealed key: it is not JSON/],
      ['{"a":1,"a":2}', /the member "?a"? twice/],
      ['[]', /given has no sealed key: give the file of "phm generate --seal-to"/],
      [{ key: 'x' }, /given has no sealed key/],
      [{ keys: [] }, /has no keys/],
      [{ keys: [answer, 1] }, /key 2 of \/.*given has no sealed key/],
      [{ sealed_key: null }, /given was not opened: This is not a sealed key: /],
      [{ sealed_key: { ...sealedKey, suite: 'RSA' } }, /not a sealed key: .*suite/],
      [{ ...answer, key_id: 'phm_2' }, /The answer states the key_id "phm_2"/],
      [{ ...sealedKey, ciphertext: flipped }, /does not open: it or its header was altered/],
      [(await sealTo('eve', 'phm_1')).answer, /sealed to another recipient/],
    ];
    for (const [content, words] of cases) {
      const { code, stdout, stderr } = await open(content);
      assert.deepEqual([code, stdout], [1, ''], stderr);
      assert.match(stderr, words);
      assertClean(stderr);
    }
  });

  it('refuses a file that is no recipient key', async () => {
    const given = put('given', answer);
    const cases: [number, string, RegExp][] = [
      [2, inFolder('missing'), /missing: there is no such file/],
      [1, inFolder('ada.recipient'), /holds only the public key: .*\.recipient-key/],
      [1, put('bad', '{"type":"phm-recipient-key/v1"}'), /bad is not a file of phm recipient new/],
    ];
    for (const [expected, path, words] of cases) {
      const { code, stderr } = await runCommand(['open', given, '--recipient-key', path]);
      assert.equal(code, expected);
      assert.match(stderr, words);
      assertClean(stderr);
    }
  });

  it('asks for the receipt that --policy checks, and refuses options that exclude others', async () => {
    const policy = put('policy', 'quorum none\n');
    const none = await open(answer, '--policy', policy);
    assert.equal(none.code, 1);
    assert.match(
      none.stderr,
      /has no receipt to check: .*: bin\/phm receipt get --sealed \S+given\n$/,
    );
    const bad = await open(
      { ...answer, receipt: { statement: {}, proof: '' } },
      '--policy',
      policy,
    );
    assert.equal(bad.code, 1);
    assert.match(bad.stderr, /given was not opened: [A-Z].*\.\n$/);
    for (const [args, words] of [
      [['--receipt', policy], /--receipt needs --policy/],
      [['--env-name', 'K'], /--env-name needs --format env/],
      [['--force'], /--force needs --output/],
      [['--output', 'a', '--output-dir', 'b'], /use one of them/],
      [['--output', '-'], /--output needs a name/],
      [['--json', '--format', 'raw'], /cannot be used with/],
    ] as const) {
      const { code, stderr } = await open(answer, ...args);
      assert.equal(code, 2, stderr);
      assert.match(stderr, words);
    }
  });
});
