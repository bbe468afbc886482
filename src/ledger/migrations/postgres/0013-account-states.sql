-- oldest-program: 8
-- States of accounts; see src/ledger/account-states.ts. An older program serves suspended accounts, and issues API keys to
-- deleted ones. So the first change of a state raises schema_version.oldest_program to 13.

-- Both times are NULL for an active account. state_audit_id names the audit record of the last change.
ALTER TABLE accounts
  ADD COLUMN suspended_ms bigint,
  ADD COLUMN deleted_ms bigint,
  ADD COLUMN state_audit_id bytea;

-- Changes the state of an account, as `AccountStore.changeAccountState` says, and returns its outcome; no row for an
-- unknown account. A statement that waits for the account's row keeps its snapshot. So this is a function, whose later
-- statements see the API keys and recipients that were added meanwhile.
CREATE FUNCTION change_account_state(of_account text, target text, after_audit bytea, by_audit bytea, at_ms bigint)
RETURNS TABLE (outcome text) LANGUAGE plpgsql AS $$
DECLARE
  old accounts%ROWTYPE;
  state text;
BEGIN
  SELECT * INTO old FROM accounts WHERE account_id = of_account FOR UPDATE;
  IF NOT FOUND THEN
    RETURN;
  END IF;
  state := CASE WHEN old.deleted_ms IS NOT NULL THEN 'deleted' WHEN old.suspended_ms IS NOT NULL THEN 'suspended'
    ELSE 'active' END;
  outcome := CASE WHEN state = target THEN 'unchanged' WHEN state = 'deleted' THEN 'deleted'
    WHEN old.state_audit_id IS DISTINCT FROM after_audit THEN 'stale' ELSE 'changed' END;
  IF outcome = 'changed' THEN
    UPDATE accounts SET suspended_ms = CASE target WHEN 'suspended' THEN at_ms END,
      deleted_ms = CASE target WHEN 'deleted' THEN at_ms END, state_audit_id = by_audit
    WHERE account_id = of_account;
    IF target = 'deleted' THEN
      UPDATE accounts SET name = '(deleted)' WHERE account_id = of_account;
      UPDATE api_keys SET revoked_ms = coalesce(revoked_ms, at_ms), name = NULL, address_ranges = NULL
      WHERE account_id = of_account;
      DELETE FROM recipients WHERE account_id = of_account;
    END IF;
  ELSE
    -- A caller may repeat a change whose commit was not confirmed: the commit of this write confirms it.
    UPDATE accounts SET plan = plan WHERE account_id = of_account;
  END IF;
  RETURN NEXT;
END $$;
