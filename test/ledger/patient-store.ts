/** A PostgreSQL store for tests of what sessions do, and not of how long they may take. */
import type { LedgerStore } from '../../src/ledger/index.ts';
import type { Limits } from '../../src/ledger/postgres/site.ts';
import { openPostgresStore } from '../../src/ledger/postgres/store.ts';
import { PATIENCE_MS } from '../support/run/until.ts';
import { QUOTAS } from './contract.ts';

/** A machine that stops for some seconds, in a login or while another session has a lock, fails no test. */
const LIMITS: Limits = { lockMs: PATIENCE_MS, statementMs: PATIENCE_MS, answerMs: PATIENCE_MS };

export function openPatientStore(url: string): Promise<LedgerStore> {
  return openPostgresStore({ url: `${url}?connect_timeout=30`, quotas: QUOTAS, limits: LIMITS });
}
