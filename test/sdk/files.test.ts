/** Encrypted files of the TypeScript client: whom they open for, and what is left of an output that fails. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import * as files from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, before, beforeEach, describe, it, type TestContext } from 'node:test';
import {
  decryptFile,
  decryptStream,
  EncryptedFileError,
  type EncryptedFileErrorCode,
  encryptedFileKey,
  formatRecipient,
  formatRecipientKey,
  newRecipient,
  openSealedKey,
  parseRecipient,
  type RecipientKey,
  readFileKey,
  reseal,
  resealStream,
  SEAL_SUITES,
  SealedKeyError,
  verifyReceipt,
} from '../../sdk/src/index.ts';
import { collect, content, inChunks, site } from './encrypted-files.ts';
import { CONTENT, fileCases } from './file-cases.ts';
import { NOW, POLICY } from './receipts.ts';
import { sealedAnswer } from './sealed-keys.ts';

interface FileVector {
  readonly name: string;
  readonly recipient_key: object;
  readonly content: string;
  readonly file: string;
}

const vectors: readonly FileVector[] = JSON.parse(
  readFileSync(new URL('../vectors/files/files.json', import.meta.url), 'utf8'),
);

const isWindows = process.platform === 'win32';

/** Changes what the client's file handles do. */
function changeHandles(t: TestContext, change: (handle: FileHandle) => Partial<Calls>) {
  const open = async (...args: Parameters<typeof files.open>) => {
    const handle = await files.open(...args);
    const changed: Partial<Calls> = change(handle);
    return new Proxy(handle, {
      get: (target, name) => {
        const own: unknown = changed[name as keyof Calls] ?? Reflect.get(target, name);
        return typeof own === 'function' ? own.bind(target) : own;
      },
    });
  };
  const { getBuiltinModule } = process;
  return t.mock.method(process, 'getBuiltinModule', (name: string) =>
    name === 'node:fs/promises' ? { ...files, open } : getBuiltinModule(name),
  );
}

/** The calls of a file handle that tests replace. */
interface Calls {
  read(buffer: Uint8Array, offset: number, length: number): Promise<unknown>;
  write(buffer: Uint8Array, offset: number): Promise<unknown>;
  writev(buffers: readonly Uint8Array[]): Promise<unknown>;
  sync(): Promise<void>;
  chown(uid: number, gid: number): Promise<void>;
  stat(): Promise<object>;
}

/** Rejects with an `EncryptedFileError` of this code, in whole sentences. */
async function refuses(
  promise: Promise<unknown>,
  code: EncryptedFileErrorCode,
  message: RegExp = /./,
  what?: string,
): Promise<void> {
  const error = await promise.then(
    () => assert.fail(`${what ?? 'it'} was accepted`),
    (reason: unknown) => reason,
  );
  assert.ok(error instanceof EncryptedFileError, String(error));
  assert.equal(error.code, code, `${what}: ${error.message}`);
  assert.match(error.message, message);
  assert.match(error.message, /^[A-Z/][^\n]*\.$/);
}

describe('encrypted files', () => {
  let me: RecipientKey;
  let other: RecipientKey;
  let folder: string;
  let source: string;
  const at = (name: string) => join(folder, name);

  before(async () => {
    me = await newRecipient();
    other = await newRecipient('ML-KEM-1024');
  });
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'phm files-'));
    source = at('report.txt');
    writeFileSync(source, CONTENT);
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  for (const { name, recipient_key, content: text, file } of vectors) {
    it(`open by the vectors: ${name}`, async () => {
      const recipientKey = JSON.stringify(recipient_key);
      const bytes = Buffer.from(file, 'base64');
      const { stream } = await decryptStream(inChunks(bytes, 1000), { recipientKey });
      assert.equal((await collect(stream)).toString(), text);
    });
  }

  for (const { name: suite } of SEAL_SUITES) {
    it(`open for their owner, whose private key the client had: ${suite}`, async () => {
      const owner = await newRecipient(suite);
      const { phm, orders, answers } = site();
      const written = await phm.encryptFile(source, { to: owner, labels: { file: 'report' } });
      assert.equal(written.path, `${source}.phm`);
      assert.equal(written.header.key_id, answers[0]?.key_id);
      assert.equal(orders[0]?.security_level, 256);
      assert.deepEqual(orders[0]?.labels, { file: 'report' });
      // The service sealed it to the owner: the receipt names them.
      assert.deepEqual((await encryptedFileKey(written.path)).sealedKey, answers[0]?.sealed_key);
      const out = at('copy');
      const opened = await decryptFile(written.path, { recipientKey: owner, out });
      assert.deepEqual(opened, { path: out, header: written.header });
      assert.deepEqual(readFileSync(out), Buffer.from(CONTENT));
    });

    it(`open for another recipient, by the public key alone: ${suite}`, async () => {
      const recipient = await newRecipient(suite);
      const { phm, orders, answers } = site();
      const to = formatRecipient(recipient);
      const { path } = await phm.encryptFile(source, { to, out: at('sent') });
      // The service sealed the key to a recipient of this call, and the client sealed it again.
      const asked = orders[0]?.seal_to.public_key;
      assert.notEqual(asked, Buffer.from(recipient.publicKey).toString('base64url'));
      const { sealedKey, header } = await encryptedFileKey(path);
      assert.notDeepEqual(sealedKey, answers[0]?.sealed_key);
      assert.equal(header.key_id, answers[0]?.key_id);
      await decryptFile(path, { recipientKey: formatRecipientKey(recipient), out: at('copy') });
      assert.deepEqual(readFileSync(at('copy')), Buffer.from(CONTENT));
    });
  }

  it('hold the sealed key in their second line, which openSealedKey opens', async () => {
    const { phm, answers } = site();
    const { path } = await phm.encryptFile(source, { to: me });
    const [first, second] = readFileSync(path, 'latin1').split('\n', 2);
    assert.equal(first, 'phm-encrypted-file/v1');
    assert.deepEqual(JSON.parse(second ?? ''), answers[0]?.sealed_key);
    await openSealedKey(second, me);
  });

  it('use a key only if its receipt is right, when a policy is given', async (t) => {
    const { phm, orders } = site();
    // The receipts of these tests are of another time.
    t.mock.timers.enable({ apis: ['Date'], now: NOW });
    const { path } = await phm.encryptFile(source, { to: me, policy: POLICY });
    assert.deepEqual(orders[0]?.include, ['receipt']);
    assert.ok(statSync(path).size > CONTENT.length);
    const swapped = await sealedAnswer(other);
    const wrong = site((answer) => ({ ...answer, receipt: swapped.answer.receipt }));
    const encrypting = wrong.phm.encryptFile(source, { to: me, policy: POLICY, out: at('no') });
    await assert.rejects(encrypting, SealedKeyError);
    assert.deepEqual(readdirSync(folder).sort(), ['report.txt', 'report.txt.phm']);
  });

  it('are resealed without a change of their content', async () => {
    const { phm, answers } = site();
    const { path } = await phm.encryptFile(source, { to: me });
    const before = readFileSync(path);
    const to = formatRecipient(other);
    const { path: same, header } = await reseal(path, { recipientKey: me, to });
    assert.equal(same, path);
    const body = (file: Buffer) => file.subarray(file.indexOf('\n', 22) + 1);
    assert.deepEqual(body(readFileSync(path)), body(before));
    // The header still names the key, and a commitment that its receipt shows.
    assert.equal(header.key_id, answers[0]?.key_id);
    await refuses(decryptFile(path, { recipientKey: me, out: at('no') }), 'wrong_recipient');
    await decryptFile(path, { recipientKey: other, out: at('copy') });
    assert.deepEqual(readFileSync(at('copy')), Buffer.from(CONTENT));
    const { sealedKey } = await encryptedFileKey(path);
    const { key, opening } = await openSealedKey(sealedKey, other);
    const receipt = answers[0]?.receipt;
    const verdict = await verifyReceipt(receipt, { policy: POLICY, key, opening, now: NOW });
    assert.equal(verdict.valid, true);
    const asSealed = openSealedKey(sealedKey, other, { receipt, policy: POLICY, now: NOW });
    await assert.rejects(asSealed, /The receipt names another recipient/);
    assert.deepEqual(readdirSync(folder).sort(), ['copy', 'report.txt', 'report.txt.phm']);
  });

  it('keep their group when another user may not give them away', async (t) => {
    const { phm } = site();
    const { path } = await phm.encryptFile(source, { to: me });
    const { uid, gid, mode } = statSync(path);
    const calls: (readonly number[])[] = [];
    const chown = async (...to: readonly number[]) => {
      calls.push(to);
      if (calls.length === 1) throw new Error('EPERM');
    };
    let count = 0;
    changeHandles(t, () => {
      const isSource = count++ === 0;
      const owner = isSource ? { uid: 4711, gid: 4712 } : { uid, gid };
      return { chown, stat: async () => ({ mode, ...owner }) };
    });
    await reseal(path, { recipientKey: me, to: other });
    assert.deepEqual(calls, [
      [4711, 4712],
      [uid, 4712],
    ]);
  });

  it('are closed before they are replaced: Windows replaces no open file', async (t) => {
    const { phm } = site();
    const { path } = await phm.encryptFile(source, { to: me });
    const open: FileHandle[] = [];
    changeHandles(t, (handle) => {
      open.push(handle);
      return {};
    });
    const { getBuiltinModule } = process;
    const rename = async (from: string, to: string) => {
      assert.deepEqual([...open.map(({ fd }) => fd)], [-1, -1]);
      return files.rename(from, to);
    };
    t.mock.method(process, 'getBuiltinModule', (name: string) =>
      Object.assign({}, getBuiltinModule(name), name === 'node:fs/promises' && { rename }),
    );
    await reseal(path, { recipientKey: me, to: other });
    // The third is the folder.
    assert.equal(open.length, 3);
  });

  it('have a name that lasts, where a folder can be synced', async (t) => {
    const { phm } = site();
    const order: string[] = [];
    let problem: object | undefined;
    changeHandles(t, (handle) => ({
      sync: async () => {
        const isFolder = (await handle.stat()).isDirectory();
        order.push(isFolder ? 'folder' : 'file', ...readdirSync(folder).sort());
        if (isFolder && problem) throw Object.assign(new Error('no sync'), problem);
      },
    }));
    const { path } = await phm.encryptFile(source, { to: me });
    const [part = ''] = order.filter((name) => name.endsWith('.part'));
    const before = ['file', 'report.txt', part];
    assert.deepEqual(order, [...before, 'folder', 'report.txt', 'report.txt.phm']);
    problem = { code: 'EINVAL' };
    await decryptFile(path, { recipientKey: me, out: at('copy') });
    problem = { code: 'EIO' };
    await assert.rejects(reseal(path, { recipientKey: me, to: other }), { code: 'EIO' });
  });

  it('keep permissions, owner and links when they are resealed', { skip: isWindows }, async () => {
    const { phm } = site();
    const { path } = await phm.encryptFile(source, { to: me });
    const isRoot = process.getuid?.() === 0;
    // Root gives a file to its owner again; others may not give it away.
    const [uid, gid] = isRoot ? [4711, 4712] : [statSync(path).uid, statSync(path).gid];
    chownSync(path, uid, gid);
    chmodSync(path, 0o464);
    mkdirSync(at('folder'));
    symlinkSync('../report.txt.phm', at('folder/link'));
    const through = await reseal(at('folder/link'), { recipientKey: me, to: other });
    assert.equal(through.path, at('folder/link'));
    assert.ok(lstatSync(at('folder/link')).isSymbolicLink());
    const { mode, uid: owner, gid: group } = lstatSync(path);
    assert.deepEqual([mode & 0o777, owner, group], [0o464, uid, gid]);
    await decryptFile(path, { recipientKey: other, out: at('copy') });
    assert.deepEqual(readFileSync(at('copy')), Buffer.from(CONTENT));
    const back = { recipientKey: other, to: me, out: path, overwrite: true };
    await reseal(path, back);
    assert.equal(statSync(path).mode & 0o777, 0o464);
    assert.deepEqual(readdirSync(at('folder')), ['link']);
    assert.deepEqual(readdirSync(folder).sort(), [
      'copy',
      'folder',
      'report.txt',
      'report.txt.phm',
    ]);
  });

  it('name both recipients when the key is of the wrong one', async () => {
    const { phm } = site();
    const { path } = await phm.encryptFile(source, { to: me });
    const third = await newRecipient();
    const opening = decryptFile(path, { recipientKey: third, out: at('no') });
    await refuses(opening, 'wrong_recipient', /thumbprint [\w+/]{43}=, .* of [\w+/]{43}=\. Give/);
    await refuses(reseal(path, { recipientKey: third, to: third }), 'wrong_recipient');
  });

  it('are refused with the right code, and leave no output, when they are damaged', async () => {
    for (const { name, file, recipientKey, code } of await fileCases()) {
      writeFileSync(at('case.phm'), file);
      const call = decryptFile(at('case.phm'), { recipientKey });
      if (code === null) await call;
      else await refuses(call, code, /./, name);
      const left = code === null ? ['case', 'case.phm'] : ['case.phm'];
      assert.deepEqual(readdirSync(folder).sort(), [...left, 'report.txt'], name);
      rmSync(at('case'), { force: true });
    }
  });

  it('replace no output unless asked, and ask for no key before', async () => {
    const { phm, orders } = site();
    writeFileSync(at('there'), 'mine');
    await refuses(phm.encryptFile(source, { to: me, out: at('there') }), 'output_exists');
    assert.equal(orders.length, 0);
    const { path } = await phm.encryptFile(source, { to: me });
    await refuses(decryptFile(path, { recipientKey: me }), 'output_exists', /report\.txt exists/);
    const there = { recipientKey: me, to: other, out: at('there') };
    await refuses(reseal(path, there), 'output_exists');
    assert.equal(readFileSync(at('there'), 'utf8'), 'mine');
    await decryptFile(path, { recipientKey: me, out: at('there'), overwrite: true });
    assert.deepEqual(readFileSync(at('there')), Buffer.from(CONTENT));
  });

  it('ask for no key when the source cannot be read', async (t) => {
    const { phm, orders } = site();
    mkdirSync(at('folder'));
    await assert.rejects(phm.encryptFile(at('folder'), { to: me }), { code: 'EISDIR' });
    changeHandles(t, () => ({ read: async () => Promise.reject(new Error('broken')) }));
    await assert.rejects(phm.encryptFile(source, { to: me }), /broken/);
    assert.equal(orders.length, 0);
    assert.deepEqual(readdirSync(folder).sort(), ['folder', 'report.txt']);
  });

  it('may have the longest name of the file system', async () => {
    const { phm } = site();
    const longest = at('あ'.repeat(83));
    await phm.encryptFile(source, { to: me, out: `${longest}.phm` });
    await decryptFile(`${longest}.phm`, { recipientKey: me });
    assert.deepEqual(readFileSync(longest), Buffer.from(CONTENT));
  });

  it('replace nothing but files', { skip: isWindows }, async () => {
    const { phm, orders } = site();
    const { path } = await phm.encryptFile(source, { to: me });
    execFileSync('mkfifo', [at('pipe')]);
    mkdirSync(at('folder'));
    symlinkSync('/dev/null', at('device'));
    for (const name of ['pipe', 'folder', 'device']) {
      const output = { out: at(name), overwrite: true };
      const problem = /^\/\S.* is not a regular file, and is not replaced/;
      await refuses(decryptFile(path, { recipientKey: me, ...output }), 'output_exists', problem);
      await refuses(phm.encryptFile(source, { to: me, ...output }), 'output_exists', problem);
    }
    assert.equal(orders.length, 1);
    assert.deepEqual(
      ['pipe', 'folder', 'device'].map((name) => lstatSync(at(name)).isFile()),
      [false, false, false],
    );
    assert.equal(readdirSync(folder).length, 5);
  });

  it('replace no output that somebody makes meanwhile', async (t) => {
    const { phm } = site();
    const { path } = await phm.encryptFile(source, { to: me });
    const out = at('late');
    changeHandles(t, (handle) => ({
      sync: () => {
        writeFileSync(out, 'mine');
        return handle.sync();
      },
    }));
    await refuses(decryptFile(path, { recipientKey: me, out }), 'output_exists');
    assert.equal(readFileSync(out, 'utf8'), 'mine');
    assert.deepEqual(readdirSync(folder).sort(), ['late', 'report.txt', 'report.txt.phm']);
  });

  it('are decrypted for their owner only', { skip: isWindows }, async () => {
    const { phm } = site();
    const { path } = await phm.encryptFile(source, { to: me });
    await decryptFile(path, { recipientKey: me, out: at('copy') });
    assert.equal(statSync(at('copy')).mode & 0o777, 0o600);
  });

  it('are whole when the system writes and reads in parts', async (t) => {
    const { phm } = site();
    const { path } = await phm.encryptFile(source, { to: me });
    changeHandles(t, (handle) => ({
      read: (buffer, offset, length) => handle.read(buffer, offset, Math.min(length, 100_001)),
      write: (buffer, offset) =>
        handle.write(buffer, offset, Math.min(buffer.length - offset, 70_001)),
      writev: (buffers) => handle.write(buffers[0] as Uint8Array, 0, 5),
    }));
    const out = at('part.phm');
    await reseal(path, { recipientKey: me, to: other, out });
    await decryptFile(out, { recipientKey: other });
    assert.deepEqual(readFileSync(at('part')), Buffer.from(CONTENT));
  });

  it('are whole when their source comes in small pieces, as from a pipe', async (t) => {
    const { phm } = site();
    const { path } = await phm.encryptFile(source, { to: me });
    changeHandles(t, (handle) => ({
      read: (buffer, offset, length) => handle.read(buffer, offset, Math.min(length, 300)),
    }));
    const out = at('piped.phm');
    await reseal(path, { recipientKey: me, to: other, out });
    await decryptFile(out, { recipientKey: other });
    assert.deepEqual(readFileSync(at('piped')), Buffer.from(CONTENT));
  });

  it('leave nothing when the disk is full, or the source cannot be read', async (t) => {
    const { phm } = site();
    const { path } = await phm.encryptFile(source, { to: me });
    const full = async () => Promise.reject(new Error('full'));
    for (const broken of [{ writev: full }, { sync: full }, { read: full }]) {
      const { mock } = changeHandles(t, () => broken);
      await assert.rejects(decryptFile(path, { recipientKey: me, out: at('no') }), /full/);
      mock.restore();
      assert.deepEqual(readdirSync(folder).sort(), ['report.txt', 'report.txt.phm']);
    }
  });

  it('end with the reason of a signal, and leave nothing', async () => {
    const { phm } = site();
    const { path } = await phm.encryptFile(source, { to: me });
    const signal = AbortSignal.abort(new Error('stop'));
    await assert.rejects(decryptFile(path, { recipientKey: me, out: at('no'), signal }), /stop/);
    await assert.rejects(phm.encryptFile(source, { to: me, out: at('no'), signal }), /stop/);
    assert.deepEqual(readdirSync(folder).sort(), ['report.txt', 'report.txt.phm']);
  });

  it('need no private key to be named', async () => {
    const { phm, answers } = site();
    const { path } = await phm.encryptFile(source, { to: parseRecipient(formatRecipient(me)) });
    assert.equal((await encryptedFileKey(path)).header.key_id, answers[0]?.key_id);
    const { header } = await readFileKey(inChunks(readFileSync(path)));
    assert.equal(header.key_id, answers[0]?.key_id);
  });

  it('explain arguments of the wrong kind, and quote no private key', async () => {
    const { phm, orders } = site();
    const secret = formatRecipientKey(me).slice(0, -20);
    const wrong: readonly (readonly [() => Promise<unknown>, RegExp])[] = [
      [() => phm.encryptFile(source, { to: 'me.recipient' }), /^to is text, but not of the file/],
      [() => phm.encryptFile(source, { to: secret }), /^to is text, but not of the file/],
      [() => phm.encryptFile(source, {} as never), /^to must be an object/],
      [
        () => phm.encryptFile(source, { to: me, idempotencyKey: 'a' as never }),
        /^idempotencyKey must be true or false, got string/,
      ],
      [() => phm.encryptFile('', { to: me }), /^the path of a file must be a string/],
      [() => decryptFile(source, undefined as never), /^the options must be an object such as/],
      [() => reseal(source, undefined as never), /^the options must be an object such as/],
      [() => decryptFile(source, { recipientKey: me }), /^the path does not end with \.phm/],
      [() => decryptFile(source, { recipientKey: secret, out: 'x' }), /^recipientKey is text, but/],
      [
        () => decryptStream('report.txt' as never, { recipientKey: me }),
        /^the source must be a ReadableStream or an async iterable/,
      ],
      [
        () =>
          decryptStream(inChunks(CONTENT), {
            recipientKey: parseRecipient(formatRecipient(me)) as never,
          }),
        /^recipientKey must have its private key/,
      ],
    ];
    for (const [call, message] of wrong) {
      const error = await call().then(
        () => assert.fail(`${message}`),
        (reason: Error) => reason,
      );
      assert.ok(error instanceof TypeError, String(error));
      assert.match(error.message, message);
      assert.ok(!error.message.includes(secret.slice(-30)));
    }
    const path: never = source as never;
    await assert.rejects(phm.encryptStream(path, { to: me }), /^TypeError: the source must be a/);
    assert.equal(orders.length, 0);
    assert.deepEqual(readdirSync(folder), ['report.txt']);
  });

  describe('as streams', () => {
    async function throughStreams(): Promise<void> {
      const { phm } = site();
      const sealed = await phm.encryptStream(new Blob([CONTENT]).stream(), { to: me });
      const moved = await resealStream(sealed.stream, { recipientKey: me, to: other });
      const opened = await decryptStream(moved.stream, { recipientKey: other });
      assert.equal(opened.header.key_id, sealed.header.key_id);
      assert.deepEqual(await collect(opened.stream), Buffer.from(CONTENT));
    }

    it('go from hand to hand', throughStreams);

    it('go the same way with the Web Crypto API alone, and without iterable streams', async (t) => {
      t.mock.method(process, 'getBuiltinModule', () => undefined);
      const iterator = ReadableStream.prototype[Symbol.asyncIterator];
      Reflect.deleteProperty(ReadableStream.prototype, Symbol.asyncIterator);
      try {
        const { phm } = site();
        const { stream } = await phm.encryptStream(new Blob([CONTENT]).stream(), { to: me });
        const opened = await decryptStream(stream, { recipientKey: me });
        const bytes = new Uint8Array(await new Response(opened.stream).arrayBuffer());
        assert.deepEqual(bytes, CONTENT);
        await assert.rejects(phm.encryptFile(source, { to: me }), /files need Node 20\.16/);
      } finally {
        Object.defineProperty(ReadableStream.prototype, Symbol.asyncIterator, {
          value: iterator,
          configurable: true,
          writable: true,
        });
      }
    });

    it('fail as a stream, after what was authentic', async () => {
      const { phm } = site();
      const { stream } = await phm.encryptStream(inChunks(CONTENT), { to: me });
      const file = await collect(stream);
      file[file.length - 1] = (file.at(-1) as number) ^ 1;
      const opened = await decryptStream(inChunks(file), { recipientKey: me });
      const reader = opened.stream.getReader();
      assert.deepEqual((await reader.read()).value, Buffer.from(CONTENT.subarray(0, 1_048_520)));
      await refuses(reader.read(), 'damaged', /segment 1 is not authentic/);
    });

    it('end their source when they are cancelled or refused', async () => {
      const ended: string[] = [];
      async function* endless(name: string): AsyncGenerator<Uint8Array> {
        try {
          for (;;) yield content(1000);
        } finally {
          ended.push(name);
        }
      }
      const { phm } = site();
      const { stream } = await phm.encryptStream(endless('cancelled'), { to: me });
      const reader = stream.getReader();
      for (let i = 0; i < 4; i += 1) await reader.read();
      await reader.cancel();
      await refuses(decryptStream(endless('refused'), { recipientKey: me }), 'not_encrypted_file');
      assert.deepEqual(ended, ['cancelled', 'refused']);
    });
  });
});
