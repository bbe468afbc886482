/**
 * Runs the tests of with-demo-keys/, which share the demo keys of one server. A module may compare counts before and after,
 * but not expect a total. Each also runs alone: `node test/http/with-demo-keys/wire.ts`.
 */
import './with-demo-keys/clients.ts';
import './with-demo-keys/examples.ts';
import './with-demo-keys/nist-report.ts';
import './with-demo-keys/warnings.ts';
import './with-demo-keys/wire.ts';
