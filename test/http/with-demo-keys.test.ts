/**
 * The tests of with-demo-keys/, which use the demo keys of one server. Others use them too: a module may compare what it
 * counts before and after, and may not expect a total. Each runs alone too: `node test/http/with-demo-keys/wire.ts`.
 */
import './with-demo-keys/clients.ts';
import './with-demo-keys/examples.ts';
import './with-demo-keys/nist-report.ts';
import './with-demo-keys/warnings.ts';
import './with-demo-keys/wire.ts';
