/** Revokes keys, each with its audit record and the pending entry of the log in one transaction. */
import { formatKeyId } from '../../keys/key-id.ts';
import type { LedgerStore } from '../../ledger/index.ts';
import type { Keyring } from '../../proof/index.ts';
import { type MacMaker, newAudit } from '../audit-record.ts';
import type { KeyTask, KeyTaskResult, LogBinding } from '../messages.ts';

export class Revocations {
  readonly #store: Pick<LedgerStore, 'revokeKey'>;
  readonly #maker: MacMaker | null;

  constructor(
    store: Pick<LedgerStore, 'revokeKey'>,
    keyring: Keyring,
    log: Pick<LogBinding, 'logId' | 'origin'> | null,
  ) {
    this.#store = store;
    this.#maker = log && {
      log,
      macs: { mac: (version, entryId, entry) => keyring.logMac(version, entryId, entry) },
      version: keyring.currentVersion,
    };
  }

  async revoke({ order, apiKeyId }: KeyTask & { kind: 'revoke' }): Promise<KeyTaskResult> {
    const { accountId, keyId, state, reason, atMs } = order;
    const audit = newAudit(this.#maker, {
      atMs,
      action: 'key_revoked',
      details: {
        account_id: accountId,
        api_key_id: apiKeyId,
        key_id: formatKeyId(keyId),
        reason,
        state,
      },
    });
    return { kind: 'revocation', outcome: await this.#store.revokeKey(order, audit) };
  }
}
