/**
 * The tests of with-accounts/, which make accounts of their own on one server, and so end its demo keys. Each runs alone
 * too: `node test/http/with-accounts/quota.ts`.
 */
import './with-accounts/bad-input.ts';
import './with-accounts/outage.ts';
import './with-accounts/quota.ts';
import './with-accounts/statistics.ts';
