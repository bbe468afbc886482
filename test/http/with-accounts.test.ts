/**
 * Runs the tests of with-accounts/, which create their own accounts on one server and so end its demo keys. Each also runs
 * alone: `node test/http/with-accounts/quota.ts`.
 */
import './with-accounts/access.ts';
import './with-accounts/accounts.ts';
import './with-accounts/bad-input.ts';
import './with-accounts/deliveries.ts';
import './with-accounts/keys.ts';
import './with-accounts/outage.ts';
import './with-accounts/quota.ts';
import './with-accounts/receipts.ts';
import './with-accounts/replay.ts';
import './with-accounts/several-recipients.ts';
import './with-accounts/statistics.ts';
