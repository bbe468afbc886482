/** The workflows: what they may do, what they run, and that everything of others in them is pinned. */
import assert from 'node:assert/strict';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { describe, it } from 'node:test';
import { parse } from 'yaml';
import { find, ROOT, readText } from './files.ts';

interface Step {
  readonly uses?: string;
  readonly run?: string;
  readonly with?: Readonly<Record<string, unknown>>;
}

interface Job {
  readonly uses?: string;
  readonly with?: Readonly<Record<string, unknown>>;
  readonly permissions?: unknown;
  readonly 'timeout-minutes'?: unknown;
  readonly container?: { readonly image: string };
  readonly steps?: readonly Step[];
}

interface Workflow {
  readonly on: Readonly<Record<string, unknown>>;
  readonly permissions?: unknown;
  readonly jobs: Readonly<Record<string, Job>>;
}

const paths = globSync('.github/workflows/*', { cwd: ROOT }).sort();
const texts = paths.map(readText);
const workflows = new Map<string, Workflow>(
  paths.map((path, i) => [basename(path, '.yml'), parse(texts[i])]),
);
const jobs = [...workflows.values()].flatMap((one) => Object.values(one.jobs));
const steps = jobs.flatMap((job) => job.steps ?? []);

describe('the workflows', () => {
  it('run the tiers when they should', () => {
    const calls = (name: string) =>
      Object.values(workflows.get(name)?.jobs ?? {})
        .filter((job) => job.uses === './.github/workflows/run.yml')
        .map((job) => job.with?.command ?? '');
    assert.deepEqual(Object.keys(workflows.get('test')?.on ?? {}), ['push', 'pull_request']);
    assert.deepEqual(calls('test'), ['']);
    assert.ok('schedule' in (workflows.get('nightly')?.on ?? {}));
    assert.deepEqual(calls('nightly'), ['npm run campaign']);
    assert.deepEqual(workflows.get('release')?.on.push, { tags: ['v*'] });
    assert.deepEqual(calls('release'), ['', 'npm run campaign']);
    const ci = readFileSync(join(ROOT, '.ci/run'), 'utf8');
    assert.match(ci, /^step npm test\nstep npm run test:slow\nstep npm run campaign -- --sample$/m);
  });

  it('may only read', () => {
    for (const [name, { permissions }] of workflows) {
      assert.deepEqual(permissions, { contents: 'read' }, name);
    }
    assert.deepEqual(
      jobs.filter((job) => job.permissions !== undefined),
      [],
    );
    const checkouts = steps.filter(({ uses }) => uses?.startsWith('actions/checkout@'));
    assert.equal(checkouts.length, 3);
    for (const step of checkouts) assert.equal(step.with?.['persist-credentials'], false);
    assert.doesNotMatch(
      texts.join('\n'),
      /secrets|pull_request_target|github\.event\.(?!_)\w+\.\w/,
    );
  });

  it('name the actions of others by commit, with the version beside it', () => {
    const used = texts.join('\n').match(/^.*\buses: (?!\.\/).*$/gm) ?? [];
    assert.equal(used.length, steps.filter(({ uses }) => uses).length);
    for (const line of used) assert.match(line, /uses: [\w/-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/);
    const pinned = new Set(used.map((line) => line.replace(/.*uses: /, '')));
    const actions = new Set([...pinned].map((line) => line.split('@')[0]));
    assert.equal(pinned.size, actions.size, [...pinned].join('\n'));
    const image = workflows.get('run')?.jobs.run.container?.image;
    assert.equal(image, find(readText('deploy/docker/Dockerfile'), /^FROM (\S+) AS build$/m));
  });

  it('end in time', () => {
    for (const job of jobs) assert.ok(job.uses ?? job['timeout-minutes'], JSON.stringify(job));
  });

  it('run only scripts that exist', () => {
    const { scripts } = JSON.parse(readText('package.json'));
    const commands = [
      ...steps.map(({ run = '' }) => run),
      ...jobs.map((job) => `${job.with?.command ?? ''}`),
    ].join('\n');
    const named = [...commands.matchAll(/npm run ([\w:]+)/g)].map(([, name]) => name);
    assert.ok(named.length >= 3, `${named}`);
    for (const name of named) assert.ok(name in scripts, name);
    const files = [...commands.matchAll(/npx node (\S+)/g)].map(([, file]) => file);
    assert.ok(files.length >= 4, `${files}`);
    for (const file of files) assert.ok(existsSync(join(ROOT, file)), file);
  });
});
