/**
 * A release of the last commit: made twice from different places, then listed, installed and started as
 * docs/releasing.md says. It needs the registries of npm and PyPI, or npm's cache. Two minutes on two idle cores.
 */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { PROJECT_VERSION } from '../../src/process/version.ts';
import { EXAMPLES, FIRST_OUTPUT } from '../sdk/newcomer.ts';
import { copied, copy, readStages } from '../support/programs/dockerfile.ts';
import { findNode20 } from '../support/programs/node-20.ts';
import { sharedPython } from '../support/programs/python.ts';
import {
  cloneDated,
  filesIn,
  makeRelease,
  noRelease,
  OWN_ENVIRONMENT,
  runIn,
  type Started,
  startInstalled,
} from '../support/programs/releases.ts';
import { DEMO_KEY } from '../support/servers/server.ts';
import { ROOT } from '../support/texts/imports.ts';
import { codeBlocks, readPage } from '../support/texts/markdown.ts';

const V = PROJECT_VERSION;
const SERVICE = `phm-key-service-${V}`;
const CODE = /^package\/(?:LICENSE|README\.md|package\.json|dist\/[\w/.-]+\.(?:js|d\.ts))$/;

/** What each archive may hold beside committed files. */
const CONTENT: Readonly<Record<string, RegExp>> = {
  [`phm-client-${V}.tgz`]: CODE,
  [`sealing-${V}.tgz`]: CODE,
  [`ais-20-31-${V}.tgz`]: CODE,
  [`phm-agent-${V}.tgz`]: new RegExp(
    `${CODE.source}|^package/(?:dist/LICENSES\\.txt|PSK\\.md|agent\\.example\\.json|phm-agent\\.service)$`,
  ),
  [`phm-lab-${V}.tgz`]: new RegExp(
    `${CODE.source}|^package/dist/(?:testbench\\.html|sp800-22/build/[\\w-]+\\.wasm)$`,
  ),
  [`sp800-22-${V}.tgz`]: new RegExp(`${CODE.source}|^package/build/[\\w-]+\\.wasm$`),
  [`sp800-90b-${V}.tgz`]: CODE,
  [`tlog-${V}.tgz`]: CODE,
  [`${SERVICE}.tar.gz`]:
    /^[^/]+\/(?:build\/manifest\.sha256|(?:build\/(?:dashboard|docs|kernels|testbench)|packages\/sp800-22\/build)\/[\w/.-]+\.(?:html|js|css|svg|png|json|yaml|txt|woff2|wasm|br|gz|map|ico))$/,
  [`${SERVICE}-image-context.tar.gz`]: /^$/,
  [`phm_client-${V}.tar.gz`]:
    /^[^/]+\/(?:LICENSE|README\.md|pyproject\.toml|PKG-INFO|\.gitignore|src\/phm_client\/[\w/]+\.(?:py|typed))$/,
  [`phm_client-${V}-py3-none-any.whl`]:
    /^phm_client(?:\/[\w/]+(?:\.py|\.typed)|-[\d.]+\.dist-info\/(?:METADATA|WHEEL|RECORD|licenses\/LICENSE))$/,
};

/** Uses of packages whose examples take longer. The sequence has too few bits for most tests. */
const SMOKE = `
import { runPackedSuite } from 'sp800-22';
import { recogniseForm } from 'phm-lab';
import { NoiseTests } from 'sp800-90b';
import { thumbprintOf } from 'sealing';
import { leafMessage } from 'tlog';
import { procedureABits } from 'ais-20-31';
const { tests } = runPackedSuite(new Uint8Array(2000).fill(0x5a), { only: ['frequency'] });
console.log(tests.length, typeof NoiseTests, typeof thumbprintOf, leafMessage(new Uint8Array(3)).length, procedureABits(), typeof recogniseForm);
`;

const folder = mkdtempSync(join(tmpdir(), 'phm-released-'));
const clones = [join(folder, 'a clone'), join(folder, 'other/place')] as const;
const outs = [join(folder, 'first'), join(folder, 'second')] as const;
const running: Started[] = [];
const validators = await sharedPython('release');
const node20 = findNode20();
const NODES = [
  ['Node 20', node20 ?? '', node20 === undefined && "there is no Node 20 on this machine's PATH"],
  ["this project's Node", process.execPath, false],
] as const;

/** A shell prefix that sets the clock of a program a day ahead, if the program for that is here. */
function otherClock(): string {
  try {
    const [now, ahead] = [
      ['date', '+%s'],
      ['faketime', '--exclude-monotonic', '-f', '+26h', 'date', '+%s'],
    ].map(([program = '', ...args]) => Number(execFileSync(program, args, { encoding: 'utf8' })));
    return Number(ahead) - Number(now) > 90_000 ? 'exec faketime --exclude-monotonic -f +26h' : '';
  } catch {
    return '';
  }
}

/** Unpacks an archive of a release into a folder of its own. */
function unpack(file: string): string {
  const target = join(folder, 'unpacked', file);
  mkdirSync(target, { recursive: true });
  const archive = join(outs[0], file);
  if (file.endsWith('.whl')) {
    execFileSync('python3', ['-I', '-m', 'zipfile', '-e', archive, target]);
  } else {
    execFileSync('tar', ['-xzf', archive, '-C', target]);
  }
  return target;
}

function released(): readonly { file: string }[] {
  return JSON.parse(readFileSync(join(outs[0], 'release.json'), 'utf8')).artefacts;
}

async function start(installed: string, name: string): Promise<Started> {
  const dataDir = join(folder, name);
  mkdirSync(dataDir);
  const server = await startInstalled(installed, dataDir);
  running.push(server);
  return server;
}

async function assertServes(address: string): Promise<void> {
  for (const path of ['/readyz', '/', '/docs']) {
    assert.equal((await fetch(`${address}${path}`)).status, 200, path);
  }
}

describe('a release', { skip: noRelease }, () => {
  let service: Started;

  before(async () => {
    cloneDated(clones[0]);
    cloneDated(clones[1], clones[0]);
    const made = await Promise.allSettled([
      makeRelease(clones[0], outs[0], 'umask 022;', { TZ: 'UTC' }),
      makeRelease(clones[1], outs[1], `umask 077; ${otherClock()}`, {
        TZ: 'Pacific/Chatham',
        LC_ALL: 'C.UTF-8',
        NODE_ENV: 'production',
      }),
    ]);
    for (const one of made) if (one.status === 'rejected') throw one.reason;
  });
  after(async () => {
    for (const server of running) await server.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  it('has the same bytes from another folder, umask, time zone and clock', (t) => {
    if (otherClock() === '') t.diagnostic('not with another clock: faketime does not work here');
    const names = filesIn(outs[0]);
    assert.deepEqual(filesIn(outs[1]), names);
    assert.ok(names.length >= 14, names.join());
    for (const name of names) {
      const [one, other] = outs.map((out) => readFileSync(join(out, name)));
      assert.ok(other && one?.equals(other), name);
    }
  });

  it('passes sha256sum, which knows every file', async () => {
    const checked = await runIn(outs[0], 'sha256sum', ['--check', '--strict', 'SHA256SUMS']);
    const names = checked
      .trim()
      .split('\n')
      .map((line) => line.replace(/: OK$/, ''));
    assert.deepEqual([...names, 'SHA256SUMS'].sort(), filesIn(outs[0]));
  });

  it('holds committed and built files only, and no path of the machine', (t) => {
    const { skipped } = JSON.parse(readFileSync(join(outs[0], 'release.json'), 'utf8'));
    for (const reason of Object.values(skipped)) t.diagnostic(`no Python client: ${reason}`);
    const listed = execFileSync('git', ['ls-files'], { cwd: clones[0], encoding: 'utf8' });
    const committed = new Set(listed.trim().split('\n'));
    const archives = released().filter(({ file }) => !file.endsWith('.json'));
    assert.ok(archives.length >= 7);
    const foreign = [clones[0], clones[1], dirname(process.execPath), 'phm-release-'];
    for (const { file } of archives) {
      const content = unpack(file);
      const names = filesIn(content);
      assert.ok(names.length > 10, file);
      for (const name of names) {
        const plain = name.replace(`${SERVICE}/`, '');
        const isKnown = file.startsWith(SERVICE) && committed.has(plain);
        assert.ok(isKnown || CONTENT[file]?.test(name), `${file}: ${name}`);
        assert.doesNotMatch(
          plain,
          /^test\/|^\.ci\/|node_modules|\.(?:db|pem|key|ndjson|tsbuildinfo)$/,
        );
        const bytes = readFileSync(join(content, name));
        for (const path of foreign) {
          // The script and its documents name the temporary folder.
          if (committed.has(plain)) continue;
          assert.ok(!bytes.includes(path), `${file}: ${name} names ${path}`);
        }
      }
    }
  });

  it('has archives without owners, and with the modes 0644 and 0755', async () => {
    for (const { file } of released().filter((one) => /^(?!phm_).*gz$/.test(one.file))) {
      const listed = await runIn(outs[0], 'tar', ['-tvzf', file, '--numeric-owner']);
      for (const line of listed.trim().split('\n')) {
        assert.match(line, /^-rw(?:-r--r--|xr-xr-x) 0\/0 /, file);
      }
    }
  });

  // Much of these is waiting for the registry and the disk.
  describe('side by side', { concurrency: true }, () => {
    describe('installed', { concurrency: 1 }, () => {
      it('has a service that starts once its dependencies are there', async () => {
        const installed = join(folder, 'unpacked', `${SERVICE}.tar.gz`, SERVICE);
        await runIn(installed, 'npm', ['ci', '--omit=dev']);
        service = await start(installed, 'service-data');
        await assertServes(service.address);
        const version = await runIn(folder, join(installed, 'bin/phm'), ['--version']);
        assert.equal(version.trim(), V);
        const selftest = await runIn(folder, join(installed, 'bin/phm'), ['selftest']);
        assert.match(selftest, /^pass {2}files: \d{4,}, as in the release$/m);
      });

      it('has a service that names each changed file and does not start with it', async () => {
        const installed = join(folder, 'unpacked', `${SERVICE}.tar.gz`, SERVICE);
        const paths = ['src/keys/generate.ts', 'build/kernels/modulation.wasm', 'bin/phm'];
        for (const [i, path] of paths.entries()) {
          const file = join(installed, path);
          const bytes = readFileSync(file);
          // A comment and a trailing section change nothing but the bytes.
          const end = path.endsWith('.wasm') ? Buffer.of(0, 2, 1, 97) : Buffer.from('\n');
          writeFileSync(file, Buffer.concat([bytes, end]));
          try {
            await assert.rejects(start(installed, `changed-data-${i}`), (error: Error) => {
              assert.ok(error.message.includes(`files differ from the release: changed: ${path}`));
              assert.match(error.message, /PHM_INTEGRITY=report starts a server with them/);
              return true;
            });
            const selftest = runIn(folder, join(installed, 'bin/phm'), ['selftest']);
            // A kernel that is not the built one is refused before any test runs, by its name.
            const named = new RegExp(`FAIL {2}files: changed: ${path}|cannot use \\S+${path} `);
            await assert.rejects(selftest, named);
          } finally {
            writeFileSync(file, bytes);
          }
        }
      });

      it('has packages that run in a project of their own', async (t) => {
        const project = join(folder, 'my-project');
        // What they depend on, from this project: the registry's list of versions is not in npm's cache.
        for (const name of ['@noble', 'commander', 'hpke']) {
          cpSync(join(ROOT, 'node_modules', name), join(project, 'node_modules', name), {
            recursive: true,
          });
        }
        writeFileSync(join(project, 'package.json'), '{"private": true, "type": "module"}');
        const files = released().filter(({ file }) => file.endsWith('.tgz'));
        assert.equal(files.length, 8);
        const install = ['install', '--offline', ...files.map(({ file }) => join(outs[0], file))];
        await runIn(project, 'npm', install);
        writeFileSync(join(project, 'smoke.js'), SMOKE);
        writeFileSync(join(project, 'example.js'), EXAMPLES[0] ?? '');
        const env = { ...OWN_ENVIRONMENT, PHM_URL: service.address, PHM_API_KEY: DEMO_KEY };
        for (const [name, node, skip] of NODES) {
          await t.test(`on ${name}`, { skip }, async () => {
            assert.equal(
              await runIn(project, node, ['smoke.js']),
              '1 function function 4 8285728 function\n',
            );
            assert.match(await runIn(project, node, ['example.js'], env), FIRST_OUTPUT);
            const agent = ['node_modules/phm-agent/dist/phm-agent.js', '--version'];
            assert.equal(await runIn(project, node, agent), `${V}\n`);
          });
        }
      });

      it('has a wheel that runs in an environment of its own', async (t) => {
        const wheel = released().find(({ file }) => file.endsWith('.whl'));
        if (wheel === undefined) return t.skip('this release has no Python client');
        const python = join(folder, 'venv/bin/python');
        await runIn(folder, 'python3', ['-I', '-m', 'venv', 'venv']);
        const pip = ['-I', '-m', 'pip', 'install', '--quiet', '--disable-pip-version-check'];
        await runIn(folder, python, [...pip, '--no-deps', '--no-index', join(outs[0], wheel.file)]);
        try {
          await runIn(folder, python, [...pip, '--only-binary', ':all:', 'httpx']);
        } catch {
          return t.skip('pip cannot install httpx here: no registry?');
        }
        await runIn(folder, python, ['-I', '-m', 'pip', 'check']);
        const examples = codeBlocks(readPage('sdk/python/README.md'));
        const example = examples.find(({ language }) => language === 'python')?.code ?? '';
        writeFileSync(join(folder, 'example.py'), example);
        const env = { ...OWN_ENVIRONMENT, PHM_URL: service.address, PHM_API_KEY: DEMO_KEY };
        assert.match(
          await runIn(folder, python, ['example.py'], env),
          /generated here\n.* tests passed, gate PASS\n/,
        );
      });
    });

    it('has a context that all of the Dockerfile works with', async () => {
      const context = join(folder, 'unpacked', `${SERVICE}-image-context.tar.gz`);
      const stages = readStages(join(context, 'deploy/docker/Dockerfile'));
      assert.equal(stages.length, 2);
      const [build, image] = [join(folder, 'build-stage'), join(folder, 'image')];
      const inside = (stage: string, path: string): string =>
        path.startsWith('/opt/phm') ? `${stage}${path.slice(8)}` : `${stage}/${path}`;
      mkdirSync(build);
      const commands: string[] = [];
      for (const instruction of stages.flat()) {
        const { name, text } = instruction;
        if (name === 'COPY') {
          const { from, sources, target } = copied(instruction);
          copy(
            sources.map((path) => (from ? inside(build, path) : join(context, path))),
            inside(from ? image : build, target),
          );
        } else if (name === 'RUN' && !text.startsWith('apt-get ')) {
          commands.push(text);
          await runIn(build, 'sh', ['-ec', text]);
        }
      }
      assert.match(commands.join('\n'), /npm ci --ignore-scripts[\s\S]*npm run build[\s\S]*chmod/);
      // Of the user of this test: its USER lines are not followed here.
      const compiled = readdirSync(join(image, 'build/compile-cache'));
      assert.equal(compiled.length, 1);
      assert.ok(readdirSync(join(image, 'build/compile-cache', compiled[0] ?? '')).length > 1000);
      const server = await start(image, 'image-data');
      await assertServes(server.address);
    });

    it('has lists of contents that validators of others accept', {
      skip: validators.skip,
    }, async () => {
      const lists = released().filter(({ file }) => /\.(?:cdx|spdx)\.json$/.test(file));
      assert.equal(lists.length, 4);
      const paths = lists.map(({ file }) => join(outs[0], file));
      const script = join(ROOT, 'test/release/validate.py');
      const printed = await runIn(folder, validators.python, ['-I', script, ...paths]);
      assert.match(printed, /^\S+\.spdx\.json \d{2,}\n\S+\.spdx\.json \d{2,}\n$/);
    });
  });
});
