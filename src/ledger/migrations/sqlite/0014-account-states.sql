-- oldest-program: 11
-- States of accounts; see src/ledger/account-states.ts. An older program serves suspended accounts, and issues API keys to
-- deleted ones. So the first change of a state raises schema_version.oldest_program to 14.

-- Both times are NULL for an active account. state_audit_id names the audit record of the last change.
ALTER TABLE accounts ADD COLUMN suspended_ms INTEGER;
ALTER TABLE accounts ADD COLUMN deleted_ms INTEGER;
ALTER TABLE accounts ADD COLUMN state_audit_id BLOB;
