/** A key service with a transparency log in this process, on SQLite, which a test may stop and start again. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { canonicalJson, type JsonObject, parseProof } from '#tlog';
import type { LogConfig } from '../../../src/config/index.ts';
import type { LedgerStore, Principal } from '../../../src/ledger/index.ts';
import { entryOf, openCheckpoint, openPolicy, verifyInclusion } from '../../../src/log/index.ts';
import { deriveLogMacKeys, LogMacKeys } from '../../../src/proof/index.ts';
import type { KeyService, LogNotice, LogReceipt } from '../../../src/service/index.ts';
import type { LogSetup } from '../../../src/service/offline.ts';
import { prepareLog } from '../../../src/setup/index.ts';
import { PATIENCE_MS } from '../run/until.ts';
import { keyRequest, PRESENT } from './fakes.ts';
import { secretOfTests, startKeyService } from './key-service.ts';
import { makeDataDir, removeDataDir } from './server.ts';

/** One installation: its data directory, its configuration, and everything that its logs reported. */
export class LoggedService {
  readonly dataDir = makeDataDir();
  readonly notices: LogNotice[] = [];
  config: LogConfig = {
    mode: 'auto',
    keys: { kind: 'managed', path: join(this.dataDir, 'log.key') },
    stateFile: `${this.dataDir}.log-state`,
    witnessesFile: null,
    intervalMs: 100,
  };
  readonly #running = new Set<KeyService>();

  get database(): string {
    return join(this.dataDir, 'phm.db');
  }

  async start(): Promise<{ service: KeyService; principal: Principal }> {
    const started = await startKeyService(this.dataDir, {
      openLog: (store) => this.prepare(store),
      onLogNotice: (notice) => this.notices.push(notice),
    });
    this.#running.add(started.service);
    return started;
  }

  prepare(store: LedgerStore, createsKeys = true): Promise<LogSetup | null> {
    return prepareLog({
      store,
      config: this.config,
      createsKeys,
      macs: new LogMacKeys(deriveLogMacKeys(secretOfTests().versions)),
      version: 1,
      nowMs: Date.now(),
      onMissingKeys: () => {},
    });
  }

  async stop(service: KeyService): Promise<void> {
    this.#running.delete(service);
    await service.close();
  }

  /** Stops what runs and removes all files. */
  async remove(): Promise<void> {
    await Promise.all([...this.#running].map((service) => this.stop(service)));
    removeDataDir(this.dataDir);
  }
}

/** Generates a key and returns its ID. */
export async function generate(service: KeyService, principal: Principal): Promise<string> {
  const outcome = await service.generate(principal, keyRequest({ receipt: true }), PRESENT);
  assert.ok(outcome.kind === 'generated');
  return outcome.keys[0]?.keyId ?? assert.fail();
}

export async function receiptOf(
  service: KeyService,
  keyId: string,
  waitMs: number = PATIENCE_MS,
): Promise<LogReceipt> {
  const answer = await service.log.receipt(keyId, 'acct_test', waitMs);
  return answer.kind === 'receipt' ? answer.receipt : assert.fail(answer.kind);
}

/** Verifies a receipt under the policy of a service. Returns its index. */
export function verifyReceipt({ statement, proof }: LogReceipt, service: KeyService): number {
  const policy = service.log.policy();
  const { logs } = openPolicy(policy.kind === 'text' ? policy.text : '');
  const { index, hashes, checkpoint: note } = parseProof(proof);
  const keys = logs.map(({ key }) => key);
  const { checkpoint } = openCheckpoint(note, keys);
  const entry = entryOf(canonicalJson(statement as JsonObject));
  const { size, root } = checkpoint;
  assert.ok(verifyInclusion({ entry, index, size, root, proof: hashes }));
  assert.equal(statement.service, checkpoint.origin);
  return index;
}
