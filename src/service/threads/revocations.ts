/** Revokes keys, with their audit records and the pending entries of the log: all keys of a batch in one transaction. */
import { formatKeyId } from '../../keys/key-id.ts';
import type { AuditedRevocation, LedgerStore, RevocationOutcome } from '../../ledger/index.ts';
import type { Keyring } from '../../proof/index.ts';
import { type MacMaker, newAudit } from '../log/audit-record.ts';
import { Joined } from './joined.ts';
import type { KeyTask, KeyTaskResult, LogBinding } from './messages.ts';

export class Revocations {
  readonly #orders: Joined<AuditedRevocation, RevocationOutcome>;
  readonly #maker: MacMaker | null;

  constructor(
    store: Pick<LedgerStore, 'revokeKeys'>,
    keyring: Keyring,
    log: Pick<LogBinding, 'logId' | 'origin'> | null,
  ) {
    this.#orders = new Joined((orders) => store.revokeKeys(orders));
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
    const [outcome] = await this.#orders.find([{ order, audit }]);
    if (outcome?.kind === 'locked') return { kind: 'account_locked', again: null };
    return { kind: 'revocation', outcome };
  }
}
