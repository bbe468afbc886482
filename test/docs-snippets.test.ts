/** The programs of the API reference at `/docs`: they say what the reader filled in, and cannot be broken by it. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { stripTypeScriptTypes } from 'node:module';
import { before, describe, it } from 'node:test';
import {
  type Call,
  curlOf,
  LANGUAGES,
  programOf,
  targetOf,
} from '../dashboard/docs-page/src/snippets.ts';
import { openApiText } from '../scripts/docs/openapi.ts';
import { type OpenApi, renderReference } from '../scripts/docs/reference.ts';

const DEMO = { address: 'https://keys.example/phm', apiKey: 'phmsk_demo_1' };
const OWN = { address: 'https://keys.example/phm', apiKey: null };

/** Characters that end strings in one of the languages. */
const HOSTILE = `it's "quoted" \\ $(touch x) \`y\` \n ü`;

describe('the programs of the reference', () => {
  let calls: readonly Call[];
  const call = (id: string) => calls.find((one) => one.id === id) ?? assert.fail(id);

  before(async () => {
    const api = JSON.parse(await openApiText()) as OpenApi;
    calls = renderReference(api).operations;
    assert.equal(calls.length, Object.keys(api.paths).length);
  });

  it('begin with the plain request, and validate in the second example', () => {
    const [plain, validated] = call('generate').examples;
    assert.deepEqual(plain?.body, { security_level: 256 });
    assert.deepEqual(validated?.body, { security_level: 256, enable_nist_validation: true });
  });

  it('exist in every language for every operation, with the address of the caller', () => {
    for (const one of calls) {
      for (const language of LANGUAGES) {
        const program = programOf(language, one, DEMO);
        assert.ok(program.includes(DEMO.address), `${one.id} ${language}`);
        assert.doesNotMatch(program, /127\.0\.0\.1|undefined/, `${one.id} ${language}`);
      }
    }
  });

  it('call the clients with what the reader filled in', () => {
    const body = '{"security_level": 128, "labels": {"env": "prod"}, "include": ["receipt"]}';
    const typescript = programOf('TypeScript', call('generate'), DEMO, { body });
    assert.ok(
      typescript.includes(
        "phm.generate({ security_level: 128, labels: { env: 'prod' }, include: ['receipt'] })",
      ),
      typescript,
    );
    const python = programOf('Python', call('generate'), DEMO, { body });
    assert.ok(
      python.includes('phm.generate(128, labels={"env": "prod"}, include=["receipt"])'),
      python,
    );
    const query = { query: 'hours=2&step=5' };
    assert.match(
      programOf('Python', call('metricsSeries'), DEMO, query),
      /metrics_series\(hours=2, step=5\)/,
    );
    assert.match(
      programOf('TypeScript', call('metricsSeries'), DEMO, query),
      /metricsSeries\(\{ hours: 2, step: 5 \}\)/,
    );
    assert.match(programOf('TypeScript', call('metrics'), DEMO), /phm\.metrics\(\)/);
    assert.match(programOf('TypeScript', call('listKeys'), DEMO), /await phm\.keyPage\(/);
    const keyId = 'phm_5';
    const revoke = { keyId, body: '{"reason": "superseded"}' };
    assert.match(
      programOf('Python', call('revokeKey'), DEMO, revoke),
      /revoke_key\("phm_5", "superseded"\)/,
    );
    assert.match(programOf('TypeScript', call('getKey'), DEMO, { keyId }), /getKey\('phm_5'\)/);
  });

  it('read an API key of the reader from where it is secret', () => {
    for (const language of LANGUAGES) {
      const program = programOf(language, call('generate'), OWN);
      assert.match(program, /api-key\.txt|PHM_API_KEY/, language);
    }
    const curl = curlOf(call('generate'), OWN);
    assert.match(curl, /-H @api-key\.txt/);
  });

  it('pass a key to curl on standard input, because every user can read arguments', () => {
    const curl = curlOf(call('validate'), DEMO, { body: '{"key": "00ff"}' });
    assert.match(curl, /-d @- <<'JSON'\n\{"key": "00ff"\}\nJSON$/);
  });

  it('quote everything, so that no value becomes a command', () => {
    const body = JSON.stringify({ security_level: 256, labels: { note: HOSTILE } });
    const shown = curlOf(call('generate'), DEMO, { body }).replace(/^curl/, 'printf "%s\\n"');
    const { stdout } = spawnSync('sh', ['-c', shown], { encoding: 'utf8' });
    assert.ok(stdout.includes(body), stdout);
    const typescript = programOf('TypeScript', call('generate'), DEMO, { body });
    const [, argument = ''] = /phm\.generate\((.*)\);\nconsole/s.exec(typescript) ?? [];
    assert.deepEqual(new Function(`return ${argument}`)(), JSON.parse(body));
    assert.doesNotThrow(() => stripTypeScriptTypes(typescript));
    assert.equal(targetOf(call('getKey'), { keyId: 'a/../b?c' }), '/api/v2/keys/a%2F..%2Fb%3Fc');
  });

  it('fall back to the tested program while the body is no JSON', () => {
    const program = programOf('Python', call('generate'), DEMO, { body: '{"security_level": ' });
    assert.match(program, /urlopen/);
  });

  it('are valid Python', (context) => {
    const programs = calls.map((one) => programOf('Python', one, DEMO));
    const check = 'import ast, json, sys\nfor one in json.load(sys.stdin): ast.parse(one)';
    const { error, status, stderr } = spawnSync('python3', ['-c', check], {
      input: JSON.stringify(programs),
      encoding: 'utf8',
    });
    if (error) context.skip('there is no python3 here');
    else assert.equal(status, 0, stderr);
  });
});
