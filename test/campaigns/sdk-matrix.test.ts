/**
 * The client's package on Node 20, 22 and 26, compiled with each `moduleResolution` by TypeScript 5 and 7, as
 * ES module and from CommonJS. Its examples on Node 20; test/slow/clients/sdk-package.test.ts runs them on Node 26. Its
 * README with the registry's current compiler.
 */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { after, before, describe, it } from 'node:test';
import { promisify } from 'node:util';
import { COMMANDS, EXAMPLES, FIRST_OUTPUT, Newcomer, ROOT } from '../sdk/newcomer.ts';
import { clientNodes } from '../support/clients/client-page.ts';
import { fullOnly, sized } from '../support/run/campaign.ts';
import { DEMO_KEY, makeDataDir, removeDataDir, Server } from '../support/servers/server.ts';

const USE = `
  const phm = new PhmClient({ baseUrl: process.env.PHM_URL ?? '', apiKey: process.env.PHM_API_KEY });
  const answer = await phm.generate({ security_level: 256, enable_nist_validation: true });
  const key = await toCryptoKey(answer, ['encrypt']);
  console.log(answer.nist_grade.length, keyBytes(answer).length, key.type);
`;

/** Twelve calls at once and one after another, with one signal. */
const ONE_SIGNAL = `import { PhmClient } from 'phm-client';
const phm = new PhmClient({ baseUrl: process.env.PHM_URL ?? '', apiKey: process.env.PHM_API_KEY });
const { signal } = new AbortController();
await Promise.all(Array.from({ length: 12 }, () => phm.metrics({}, { signal })));
for (let i = 0; i < 12; i += 1) await phm.health({ signal });
`;

const ES_MODULE = `import { keyBytes, PhmClient, toCryptoKey } from 'phm-client';
${USE}`;

const COMMONJS = `async function main(): Promise<void> {
  const { keyBytes, PhmClient, toCryptoKey } = await import('phm-client');
${USE}
}
main();
`;

const STRICT =
  '--strict --exactOptionalPropertyTypes --noUncheckedIndexedAccess --verbatimModuleSyntax false';
/** Only Node's types; the declarations of the package are checked too. */
const NODE_ALONE = '--target es2022 --lib es2022 --types node --skipLibCheck false';

const COMPILERS = [
  ['TypeScript 5', `${ROOT}/sdk/node_modules/typescript/bin/tsc`],
  ['TypeScript 7', `${ROOT}/node_modules/typescript/bin/tsc`],
] as const;

const RESOLUTIONS = sized({
  sample: [['nodenext', 'nodenext']],
  full: [
    ['node16', 'node16'],
    ['nodenext', 'nodenext'],
    ['bundler', 'preserve'],
  ],
});

const NODES = await clientNodes();

describe('the package in sdk/, in every kind of project', () => {
  const newcomer = new Newcomer();
  let server: Server;
  let dataDir: string;

  before(async () => {
    dataDir = makeDataDir();
    [server] = await Promise.all([Server.start(dataDir), newcomer.install()]);
    newcomer.linkCompiler();
  });
  after(async () => {
    await server?.stop();
    removeDataDir(dataDir);
    newcomer.remove();
  });

  it('runs the documented examples on Node 20', { skip: NODES[0]?.[2] }, async () => {
    await newcomer.runExamples(NODES[0]?.[1] ?? '', server.address);
  });

  for (const [name, node, skip] of NODES) {
    it(`warns of nothing when many calls share a signal, on ${name}`, { skip }, async () => {
      newcomer.write('one-signal.mjs', ONE_SIGNAL);
      const env = { PHM_URL: server.address, PHM_API_KEY: DEMO_KEY };
      const options = { cwd: newcomer.project, env };
      const { stderr } = await promisify(execFile)(node, ['one-signal.mjs'], options);
      assert.equal(stderr, '');
    });
  }

  for (const [compiler, tsc] of COMPILERS) {
    for (const [resolution, module] of RESOLUTIONS) {
      const folder = `${compiler.at(-1)}-${resolution}`;
      it(`compiles with ${resolution} of ${compiler}, and runs on each Node`, async (t) => {
        newcomer.write(`${folder}/esm.mts`, ES_MODULE);
        newcomer.write(`${folder}/common.cts`, COMMONJS);
        const how = `--module ${module} --moduleResolution ${resolution}`;
        const files = `${folder}/esm.mts ${folder}/common.cts`;
        await newcomer.shell([`node '${tsc}' ${how} ${STRICT} ${NODE_ALONE} ${files}`]);
        for (const [name, node, skip] of NODES) {
          await t.test(name, { skip }, async () => {
            const env = { PHM_URL: server.address, PHM_API_KEY: DEMO_KEY };
            const options = { cwd: `${newcomer.project}/${folder}`, env };
            for (const file of ['esm.mjs', 'common.cjs']) {
              const { stdout } = await promisify(execFile)(node, [file], options);
              assert.equal(stdout, '1 32 secret\n', file);
            }
          });
        }
      });
    }
  }
});

describe('the README of sdk/', () => {
  it('is correct with the latest published compiler', { skip: fullOnly }, async (t) => {
    const newcomer = new Newcomer();
    const dataDir = makeDataDir();
    const server = await Server.start(dataDir);
    try {
      await newcomer.install();
      const [installCompiler = '', ...compileAndRun] = COMMANDS.runTyped;
      try {
        // Without a registry npm would try for eight minutes.
        const once = { npm_config_fetch_retries: '0', npm_config_fetch_timeout: '20000' };
        await newcomer.shell([installCompiler], once);
      } catch {
        t.skip('npm cannot install TypeScript here: no registry?');
        return;
      }
      newcomer.write('typed.mts', EXAMPLES[0] ?? '');
      const env = { PHM_URL: server.address, PHM_API_KEY: DEMO_KEY };
      assert.match(await newcomer.shell(compileAndRun, env), FIRST_OUTPUT);
    } finally {
      await server.stop();
      removeDataDir(dataDir);
      newcomer.remove();
    }
  });
});
