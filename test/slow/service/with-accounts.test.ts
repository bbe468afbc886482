/**
 * Runs the tests of with-accounts/, which create their own accounts on one server and so end its demo keys. Each also runs
 * alone: `node test/http/with-accounts/quota.ts`.
 */
import '../../http/with-accounts/access.ts';
import '../../http/with-accounts/accounts.ts';
import '../../http/with-accounts/bad-input.ts';
import '../../http/with-accounts/deliveries.ts';
import '../../http/with-accounts/keys.ts';
import '../../http/with-accounts/outage.ts';
import '../../http/with-accounts/quota.ts';
import '../../http/with-accounts/receipts.ts';
import '../../http/with-accounts/replay.ts';
import '../../http/with-accounts/several-recipients.ts';
import '../../http/with-accounts/statistics.ts';
