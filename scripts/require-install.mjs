/**
 * Runs before scripts of package.json (`prestart`, `prebuild`, …), and says in one line what to do if the packages or
 * the Node that they need are missing. With the argument `development` it requires the development packages too.
 * Plain JavaScript that Node 12 can read: a machine that needs this may have no newer Node.
 */
import { existsSync } from 'node:fs';

const NEEDED_NODE = 26;

const has = (name) => existsSync(new URL(`../node_modules/${name}/package.json`, import.meta.url));
const found = Number(process.versions.node.split('.')[0]);
const script = String(process.env.npm_lifecycle_event).replace(/^pre/, '');
const again = `"npm ${/^(?:start|test)$/.test(script) ? '' : 'run '}${script}"`;

let problem;
if (!has('fastify')) problem = `the packages are not installed: run "npm ci", then ${again}`;
else if (process.argv[2] === 'development' && !has('typescript')) {
  problem = `the development packages are not installed: run "npm ci" without --omit=dev, then ${again}`;
} else if (found < NEEDED_NODE) {
  problem = `node is ${process.version}, and Node ${NEEDED_NODE} is needed: run "npm ci" without --omit=optional, which installs it, then ${again}`;
}
if (problem) {
  process.stderr.write(`${problem}\n`);
  process.exitCode = 1;
}
