/** After retirement, a leaked master secret is worth little: it makes proofs but no rows. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { describe, it } from 'node:test';
import { type ValidationVerdict, validationWord } from '../../../src/keys/validate.ts';
import type { LedgerStore, MeteredRequest, Retirement } from '../../../src/ledger/index.ts';
import { type Commitment, Keyring } from '../../../src/proof/index.ts';
import { KeyWorker } from '../../../src/service/threads/key-worker.ts';
import type { KeyTask } from '../../../src/service/threads/messages.ts';
import {
  fakeGenerator,
  fakePlainGenerator,
  order,
  ownChecks,
  RecordingDrbg,
} from '../../support/servers/fakes.ts';

const LEAKED = { version: 1, secret: Buffer.alloc(32, 1) };
const FRESH = { version: 2, secret: Buffer.alloc(32, 2) };
const service = new Keyring([LEAKED, FRESH]);
/** The thief has only a copy of the old master.key. */
const attacker = new Keyring([LEAKED]);

const LEAK_MS = Date.UTC(2026, 10, 20);
const requester = { accountId: 'a', apiKeyId: 'k', atMs: LEAK_MS };
const usage = { month: 1, used: 1, quota: null };

/** A ledger with rows of these commitments and times. Version 1 may be retired. */
function ledgerOf(
  retirement: Retirement | null,
  rows: [Buffer, number][] = [],
  ring: Keyring = service,
) {
  const asked: number[] = [];
  const committed: MeteredRequest[] = [];
  const read: unknown[] = [];
  let now = retirement;
  const [first, second] = ownChecks(ring).values();
  const store = {
    commit: async (requests: readonly MeteredRequest[]) => {
      committed.push(...requests);
      return requests.map(() => ({ kind: 'committed', usage }));
    },
    findCommitments: async (queries: readonly Commitment[]) => {
      asked.push(queries.length);
      return queries.map(({ digest }) => rows.find(([row]) => row.equals(digest))?.[1] ?? null);
    },
    findStates: async (queries: readonly Commitment[]) => queries.map(() => null),
    secretChecks: async () =>
      new Map([
        [1, { ...first, retirement: now }],
        [2, { ...second, retirement: null }],
      ]),
    probe: async () => false,
    hasOwnApiKeys: async () => false,
  } as unknown as LedgerStore;
  const plain = fakePlainGenerator(fakeGenerator(new RecordingDrbg()));
  const retire = (next: Retirement | null) => {
    now = next;
  };
  const worker = new KeyWorker(plain, ring, store, null, (retired) => read.push(retired));
  return { worker, asked, committed, read, retire };
}

const generateTask: KeyTask = { kind: 'generate', requester, order: order(), idempotency: null };

type Asked = readonly [key: Uint8Array, proof?: string];

async function validate(worker: KeyWorker, ...asked: Asked[]): Promise<ValidationVerdict[]> {
  const tasks = asked.map(
    ([key, proof]): KeyTask => ({ kind: 'validate', requester, key: Buffer.from(key), proof }),
  );
  const { results } = await worker.run({ id: 1, tasks, failures: [] });
  return results.map((result) => {
    assert.ok(result.kind === 'validated');
    return result.verdict;
  });
}

const said = ({ valid, proofVerification, retiredSecret }: ValidationVerdict) => [
  valid,
  proofVerification,
  retiredSecret,
];

const RETIRED = { retiredMs: LEAK_MS + 9, compromisedMs: null };
const RETIRED_SINCE = { ...RETIRED, compromisedMs: LEAK_MS };

describe('a leaked version of the master secret', () => {
  const forged = randomBytes(32);
  const forgery: Asked = [forged, attacker.makeProof(forged)];
  const made = randomBytes(32);
  const row = attacker.commit(made).digest;
  const proven: Asked = [made, attacker.makeProof(made)];

  it('validates any key until it is retired', async () => {
    const [verdict] = await validate(ledgerOf(null).worker, forgery);
    assert.deepEqual(said(verdict), [true, 'passed', null]);
  });

  it('validates no key without a record after it is retired', async () => {
    for (const retirement of [RETIRED, RETIRED_SINCE]) {
      const [verdict] = await validate(ledgerOf(retirement).worker, forgery);
      assert.deepEqual(said(verdict), [false, 'unconfirmed', 'no_record']);
      assert.equal(validationWord(verdict), 'unconfirmed');
    }
  });

  it('still validates recorded keys, with or without their proof', async () => {
    for (const [retirement, madeMs] of [
      [RETIRED, LEAK_MS + 5],
      [RETIRED_SINCE, LEAK_MS - 1],
    ] as const) {
      const { worker } = ledgerOf(retirement, [[row, madeMs]]);
      for (const verdict of await validate(worker, proven, [made])) {
        assert.deepEqual(said(verdict), [true, 'passed', 'record_found']);
        assert.equal(validationWord(verdict), 'valid');
      }
    }
  });

  it('confirms no key recorded in or after the millisecond of the compromise', async () => {
    const { worker } = ledgerOf(RETIRED_SINCE, [[row, LEAK_MS]]);
    for (const verdict of await validate(worker, proven, [made])) {
      assert.deepEqual(said(verdict), [false, 'unconfirmed', 'record_too_late']);
    }
  });

  it('gains nothing from a record of the same key under another version', async () => {
    const { worker } = ledgerOf(RETIRED, [[service.commit(made, 2).digest, LEAK_MS - 1]]);
    const [bare, withProof] = await validate(worker, [made], proven);
    assert.deepEqual(said(bare), [true, 'passed', null]);
    assert.deepEqual(said(withProof), [false, 'unconfirmed', 'no_record']);
  });

  it('does not affect wrong proofs, foreign keys or versions that are not retired', async () => {
    const { worker, asked } = ledgerOf(RETIRED_SINCE);
    const other = randomBytes(32);
    const verdicts = await validate(
      worker,
      [other, attacker.makeProof(made)],
      [other],
      [made, service.makeProof(made)],
      [Buffer.alloc(32), attacker.makeProof(Buffer.alloc(32))],
    );
    assert.deepEqual(verdicts.map(said), [
      [false, 'failed', null],
      [false, 'failed', null],
      [true, 'passed', null],
      [false, 'unconfirmed', 'no_record'],
    ]);
    assert.equal(verdicts[3]?.entropyCheck, 'failed');
    assert.deepEqual(
      asked,
      [3],
      'two commitments of the bare key, one of the forgery, in one question',
    );
  });

  it('is reported if a batch sees its retirement undone, however briefly', async () => {
    const { worker, read, retire } = ledgerOf(RETIRED);
    await worker.checkLedger();
    retire(null);
    const [verdict] = await validate(worker, forgery);
    assert.deepEqual(said(verdict), [true, 'passed', null]);
    retire(RETIRED);
    await validate(worker, forgery);
    await worker.checkLedger();
    const version = { version: 1, compromisedMs: null, current: false };
    assert.deepEqual(read, [[version], [], [version]]);
  });

  it('gives no record to a key that waits, but counts the validation in the same batch', async () => {
    const { worker, retire, committed } = ledgerOf(null, [], attacker);
    const { results } = await worker.run({ id: 1, tasks: [generateTask], failures: [] });
    assert.deepEqual([results[0]?.kind, committed.length], ['generated', 1]);
    retire(RETIRED);
    await worker.checkLedger();
    const tasks: KeyTask[] = [
      generateTask,
      { kind: 'validate', requester, key: undefined, proof: undefined },
    ];
    const [refused, validated] = (await worker.run({ id: 2, tasks, failures: [] })).results;
    assert.ok(refused?.kind === 'failed' && validated?.kind === 'validated');
    assert.equal(refused.failure.code, 'ledger_unavailable');
    assert.match(refused.failure.reason, /version 1 of the master secret is retired$/);
    assert.deepEqual(
      committed.map(({ keys }) => keys.length > 0),
      [true, false],
    );
    retire(null);
    await worker.checkLedger();
    const again = await worker.run({ id: 3, tasks: [generateTask], failures: [] });
    assert.equal(again.results[0]?.kind, 'generated');
  });

  it('is reported with whether it is the current version', async () => {
    const { worker } = ledgerOf(RETIRED_SINCE);
    assert.deepEqual((await worker.checkLedger()).retired, [
      { version: 1, compromisedMs: LEAK_MS, current: false },
    ]);
  });
});
