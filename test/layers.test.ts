/**
 * Imports run one way: main → serve → http → telemetry → service → keys → accounts → stages → leaves,
 * and main → cli → setup, inspection → service. The server's start, serve/, imports setup/ too.
 *
 * Stages never import each other's values; they meet in keys/. A type may come from an earlier stage. Only
 * cli/ imports the client in sdk/, through its door; the client imports nothing from src/, and only the formats of
 * the log and of sealed keys from packages/.
 */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { getCompileCacheDir } from 'node:module';
import { dirname, join, relative, resolve } from 'node:path';
import { describe, it } from 'node:test';
import { childEnvironment } from '#platform/threads';
import {
  DOORS,
  everyNameIsType,
  importCycles,
  importsOf,
  ROOT,
  readSources,
  resolveImport,
} from './support/texts/imports.ts';

const SRC = join(ROOT, 'src');
const PACKAGES = join(ROOT, 'packages');
const SDK = join(ROOT, 'sdk/src');
const HTTP_TESTS = join(ROOT, 'test/http');

/** Rank of each layer: an import goes to a lower rank or stays within its folder. */
const RANKS: Record<string, number> = {
  main: 9,
  serve: 8,
  http: 6,
  cli: 6,
  telemetry: 5,
  setup: 5,
  inspection: 5,
  service: 4,
  keys: 3,
  accounts: 2,
  entropy: 1,
  drbg: 1,
  modulation: 1,
  'ais-20-31': 0,
  'sp800-22': 1,
  'sp800-90b': 0,
  lab: 2,
  sealing: 0,
  tlog: 0,
  proof: 1,
  ledger: 1,
  log: 1,
  config: 0,
  files: 0,
  errors: 0,
  'error-table': 0,
  bytes: 0,
  clock: 0,
  'node-http': 0,
  platform: 0,
  process: 0,
};

/** Stages 1 to 7 in the order of the data path; the third is a package. */
const STAGES = ['entropy', 'drbg', 'sp800-22', 'modulation', 'proof', 'ledger', 'log'];

/** The server and the command line meet only in `main.ts`, so that a command does not load the server. */
const SERVER = ['serve', 'http', 'telemetry'];

/** Further folders with a door. Only the service, which runs the path of a key, imports other files of `keys/`. */
const BEHIND_DOORS = ['accounts', 'inspection', 'keys', 'service', 'setup'];

/** Doors that only some layers may use, most of them further doors of a folder. */
const SIDE_DOORS: Record<string, readonly string[]> = {
  '#sp800-90b/health': ['entropy', 'keys'],
  'inspection/index.ts': ['cli'],
  'ledger/admin.ts': ['cli', 'inspection'],
  'ledger/key-columns.ts': ['keys', 'service'],
  'keys/terms.ts': ['cli', 'inspection'],
  'ledger/row-seals.ts': ['keys', 'service'],
  'service/offline.ts': ['cli', 'inspection', 'serve', 'setup', 'telemetry'],
  'service/threads/waiting-threads.ts': ['serve'],
  '#lab/commands': ['cli'],
  '#sp800-22/wasm': ['modulation', 'cli'],
};

/** What a package may import from outside its folder: files of other packages below packages/, and packages of npm. */
const BEYOND_PACKAGES: Record<string, readonly string[]> = {
  agent: [
    '../sdk/src/index.ts',
    'commander',
    'platform/src/commands/index.ts',
    'platform/src/files/index.ts',
    'platform/src/terminal/index.ts',
    'platform/src/threads/index.ts',
    'tlog/src/index.ts',
  ],
  lab: [
    'ais-20-31/src/index.ts',
    'commander',
    'platform/src/commands/index.ts',
    'platform/src/files/index.ts',
    'platform/src/terminal/index.ts',
    'platform/src/threads/index.ts',
    'sp800-22/src/arguments.ts',
    'sp800-22/src/elementary.ts',
    'sp800-22/src/index.ts',
    'sp800-22/src/node.ts',
    'sp800-22/src/result.ts',
    'sp800-22/src/source-rule/index.ts',
    'sp800-90b/src/index.ts',
  ],
  platform: ['commander'],
  'ais-20-31': [
    'sp800-22/src/arguments.ts',
    'sp800-90b/src/estimators/_estimate.ts',
    'sp800-90b/src/estimators/_prediction.ts',
    'sp800-90b/src/estimators/lz78y.ts',
    'sp800-90b/src/estimators/multi-mmc.ts',
  ],
  'sp800-90b': ['sp800-22/src/arguments.ts', 'sp800-22/src/elementary.ts'],
  sealing: ['tlog/src/index.ts', 'hpke'],
};

/** Doors for browsers, from which no module of Node may be reached. */
const BROWSER_DOORS = [
  'ais-20-31/src/index.ts',
  'lab/src/assess/worker-entry.ts',
  'lab/src/index.ts',
  'sp800-22/src/index.ts',
  'sp800-90b/src/index.ts',
];

/** The only file outside src/ that a layer may import. */
const OUTSIDE: Record<string, string> = {
  cli: '../sdk/src/index.ts',
  process: '../package.json',
};

interface Arrow {
  readonly file: string;
  readonly from: string;
  readonly to: string;
  readonly target: string;
  readonly typesOnly: boolean;
}

function layerOf(path: string): string {
  const inPackages = relative(PACKAGES, path);
  const below = inPackages.startsWith('..') ? relative(SRC, path) : inPackages;
  return (below.split('/')[0] ?? '').replace(/\.ts$/, '');
}

function readArrows(): Arrow[] {
  return [...readSources('src')].flatMap(([path, text]) =>
    importsOf(path, text).map(({ specifier, target, typesOnly }) => ({
      file: relative(SRC, path),
      from: layerOf(path),
      to: layerOf(target),
      target: specifier.startsWith('#') ? specifier : relative(SRC, target),
      typesOnly,
    })),
  );
}

/** Returns the files of the program in src/ and in its packages, with their texts. */
function programFiles(): [file: string, text: string][] {
  return [...readSources('src'), ...readSources('packages')]
    .map(([path, text]): [string, string] => [relative(ROOT, path), text])
    .filter(([file]) => /^(src|packages\/[^/]+\/src)\//.test(file));
}

/** Returns the files, and the packages and modules of Node, that a file loads by imports, without `import()` and types. */
function loadedBy(entry: string) {
  const files = new Set([join(SRC, entry)]);
  const packages = new Set<string>();
  for (const file of files) {
    const statements = readFileSync(file, 'utf8').matchAll(
      /^(?:import|export)\s+(type\s)?(?:([^;']*?)\sfrom\s+)?'([^']+)'/gm,
    );
    for (const [, type, names, specifier = ''] of statements) {
      if (type || everyNameIsType(names ?? '')) continue;
      if (/^[.#]/.test(specifier)) files.add(resolveImport(file, specifier));
      else packages.add(specifier.replace(/^([^@/]+)\/.*/, '$1'));
    }
  }
  return { files, packages: [...packages].sort() };
}

function packagesLoadedBy(entry: string): string[] {
  return loadedBy(entry).packages.filter((name) => !name.startsWith('node:'));
}

/** Returns a file and all files that it imports, directly or not. */
function reachedFrom(entry: string): Set<string> {
  const files = new Set([entry]);
  for (const file of files) {
    if (!/\.tsx?$/.test(file)) continue;
    for (const { target } of importsOf(file, readFileSync(file, 'utf8'))) files.add(target);
  }
  return files;
}

/** Returns the reason why an import is not allowed, or undefined. */
function complaint({ file, from, to, target, typesOnly }: Arrow): string | undefined {
  if (target.startsWith('..')) {
    return OUTSIDE[from] === target ? undefined : `${file}: ${from} imports ${target}`;
  }
  if (from === to) return undefined;
  if (target in SIDE_DOORS) {
    return SIDE_DOORS[target]?.includes(from) ? undefined : `${file}: ${from} imports ${target}`;
  }
  const [fromRank, toRank] = [RANKS[from], RANKS[to]];
  if (fromRank === undefined || toRank === undefined)
    return `${file}: unknown layer ${from} or ${to}`;
  if (STAGES.includes(from) && STAGES.includes(to)) {
    const earlier = STAGES.indexOf(to) < STAGES.indexOf(from);
    return typesOnly && earlier ? undefined : `${file}: stage ${from} imports values of ${to}`;
  }
  const isApart = from === 'cli' ? SERVER.includes(to) : SERVER.includes(from) && to === 'cli';
  if (isApart || (fromRank <= toRank && !(fromRank === 0 && toRank === 0)))
    return `${file}: ${from} imports ${to}`;
  if (STAGES.includes(to) && target !== `${to}/index.ts` && target !== `#${to}`) {
    return `${file}: enters stage ${to} by ${target}, not by its door`;
  }
  const isPathOfKey = from === 'service' && to === 'keys';
  if (BEHIND_DOORS.includes(to) && !isPathOfKey && target !== `${to}/index.ts`) {
    return `${file}: ${from} enters ${to} by ${target}, not by its door`;
  }
  return undefined;
}

describe('layers', () => {
  const arrows = readArrows();

  it('reads the imports of every stage', () => {
    for (const stage of STAGES) {
      assert.ok(
        arrows.some(({ from, to }) => from === stage || (to === stage && `#${to}` in DOORS)),
        `no imports read from ${stage}`,
      );
    }
  });

  it('reads dynamic imports', () => {
    for (const [from, to] of [
      ['main', 'serve'],
      ['main', 'cli'],
    ]) {
      assert.ok(
        arrows.some((arrow) => arrow.from === from && arrow.to === to),
        `no arrow from ${from} to ${to}`,
      );
    }
  });

  it('allows imports in one direction, and into a folder only through its door', () => {
    assert.deepEqual(
      arrows.map(complaint).filter((one) => one !== undefined),
      [],
    );
  });

  it('refuses a wrong import', () => {
    const wrong = {
      file: 'x',
      from: 'proof',
      to: 'drbg',
      target: 'drbg/index.ts',
      typesOnly: false,
    };
    assert.match(complaint(wrong) ?? '', /stage proof imports values of drbg/);
    assert.match(complaint({ ...wrong, from: 'ledger', to: 'keys' }) ?? '', /ledger imports keys/);
    const client = { ...wrong, from: 'http', target: '../sdk/src/index.ts' };
    assert.match(complaint(client) ?? '', /http imports \.\.\/sdk/);
    assert.equal(complaint({ ...client, from: 'cli' }), undefined);
    assert.match(
      complaint({ ...client, from: 'cli', target: '../sdk/src/retry.ts' }) ?? '',
      /cli imports/,
    );
    const backDoor = { ...wrong, from: 'keys', target: 'drbg/ctr-drbg.ts' };
    assert.match(complaint(backDoor) ?? '', /not by its door/);
    const intoKeys = { ...wrong, from: 'http', to: 'keys', target: 'keys/latch.ts' };
    assert.match(complaint(intoKeys) ?? '', /http enters keys by keys\/latch.ts/);
    assert.equal(complaint({ ...intoKeys, from: 'service' }), undefined);
    const inspection = { ...wrong, from: 'http', to: 'inspection', target: 'inspection/index.ts' };
    assert.match(complaint(inspection) ?? '', /http imports inspection/);
    assert.equal(complaint({ ...inspection, from: 'cli' }), undefined);
    const intoCli = { ...wrong, from: 'serve', to: 'cli', target: 'cli/index.ts' };
    assert.match(complaint(intoCli) ?? '', /serve imports cli/);
  });

  it('has no cycle of imports, even of types', () => {
    const sources = new Map([...readSources('src'), ...readSources('packages')]);
    const cycles = importCycles(sources);
    assert.deepEqual(
      cycles.map((files) => files.map((file) => relative(ROOT, file)).join(' → ')),
      [],
    );
  });

  it('finds a cycle of types, and of a file loaded later', () => {
    const sources = new Map([
      ['/a.ts', "import { b } from './b.ts';"],
      ['/b.ts', "import {\n  type C,\n  type D,\n} from './c.ts';\nexport * from './d.ts';"],
      ['/c.ts', "export type { A } from './a.ts';"],
      ['/d.ts', "const { d } = await import('./d.ts');"],
    ]);
    assert.deepEqual(importCycles(sources), [
      ['/a.ts', '/b.ts', '/c.ts', '/a.ts'],
      ['/d.ts', '/d.ts'],
    ]);
    assert.deepEqual(importCycles(new Map([['/a.ts', "import { b } from './b.ts';"]])), []);
  });

  it('allows only main.ts, and the programs of the laboratory and the agent, to read the process environment', () => {
    const readers = programFiles().filter(([, text]) =>
      /\bprocess\.env\b|\benv \} = process\b/.test(text),
    );
    assert.deepEqual(
      readers.map(([file]) => file),
      ['src/main.ts', 'packages/agent/src/bin.ts', 'packages/lab/src/bin.ts'],
    );
  });

  it('hides the environment from every thread and process that the program starts, but the one of phm doctor', () => {
    const calls = programFiles()
      // The first examines the environment; the second is for programs of others.
      .filter(
        ([file]) => !/^(src.cli.doctor.examination|packages.sp800-22.src.node).ts$/.test(file),
      )
      .flatMap(([file, text]) => {
        const starts =
          text.match(/\bnew Worker\(|\bfork\(|\b(?:spawn|execFile)(?:Sync)?\($/gm) ?? [];
        const hidden = text.match(/\benv: childEnvironment\(\)/g) ?? [];
        return starts.length > 0 ? [{ file, starts: starts.length, hidden: hidden.length }] : [];
      });
    const files = calls.map(({ file }) => file).sort();
    assert.deepEqual(files, [
      'packages/platform/src/threads/worker-thread.ts',
      'src/entropy/restarted-source.ts',
      'src/ledger/sqlite/check.ts',
    ]);
    for (const { file, starts, hidden } of calls) assert.equal(hidden, starts, file);
    assert.deepEqual(Object.keys(childEnvironment()), ['NODE_COMPILE_CACHE']);
    // As in this process: the folder that was set, and Node's own folder below it.
    const { NODE_COMPILE_CACHE: folder = '' } = childEnvironment();
    assert.match(relative(folder, getCompileCacheDir() ?? ''), /^v\d[^/]*$/);
  });

  it('takes no values from node:http, which would load undici into the server and into every command; the agent is a server of its own', () => {
    // Without its types, `import { type A }` still loads the module.
    const taking = /^(?:import|export) (?!type )[^;=]*'node:http'/m;
    assert.match("import { type Server } from 'node:http';", taking);
    const files = programFiles().filter(
      ([file, text]) => !file.startsWith('packages/agent/') && taking.test(text),
    );
    assert.deepEqual(
      files.map(([file]) => file),
      [],
    );
  });

  it('allows only main.ts to use await at the top level', () => {
    const awaiting = programFiles().filter(([, text]) =>
      /^(?![ /]|.*\basync\b).*\bawait\b/m.test(text),
    );
    // V8 aborts the process if a thread is terminated while its modules load.
    assert.deepEqual(
      awaiting.map(([file]) => file),
      ['src/main.ts'],
    );
  });

  it('allows packages to import only Node, and what is listed, from outside', () => {
    const sources = [...readSources('packages')].filter(([path]) =>
      /^[^/]+\/src\//.test(relative(PACKAGES, path)),
    );
    assert.ok(sources.length > 200, `${sources.length} files`);
    for (const [path, text] of sources) {
      const name = layerOf(path);
      for (const [, specifier = ''] of text.matchAll(/\sfrom\s+'([^']+)'/g)) {
        const target = specifier.startsWith('.')
          ? relative(PACKAGES, resolve(dirname(path), specifier))
          : specifier;
        const isAllowed =
          target.startsWith(`${name}/src/`) ||
          target.startsWith('node:') ||
          BEYOND_PACKAGES[name]?.includes(target);
        assert.ok(isAllowed, `${relative(PACKAGES, path)} imports ${specifier}`);
      }
    }
  });

  it('reaches no module of Node from the doors for browsers', () => {
    for (const door of BROWSER_DOORS) {
      const nodes = [...reachedFrom(join(PACKAGES, door))].filter((file) =>
        /\sfrom 'node:/.test(readFileSync(file, 'utf8')),
      );
      assert.deepEqual(nodes, [], door);
    }
    assert.ok([...reachedFrom(join(PACKAGES, 'lab/src/index-node.ts'))].length > 50);
  });

  it('proves the laboratory and the agent without the service: their tests reach nothing of src/', () => {
    const tests = ['lab', 'agent'].flatMap((name) => [
      ...readSources(`packages/${name}/test`).keys(),
    ]);
    assert.ok(tests.length > 25, `${tests.length} files`);
    const reached = new Set(tests.flatMap((file) => [...reachedFrom(file)]));
    assert.deepEqual(
      [...reached].map((file) => relative(ROOT, file)).filter((file) => file.startsWith('src/')),
      [],
    );
  });

  it('lets the pages in dashboard/ import the client and packages, and nothing of src/', () => {
    const imports = [...readSources('dashboard')].flatMap(([path, text]) =>
      importsOf(path, text).map(({ target }) => relative(ROOT, target)),
    );
    assert.ok(imports.some((path) => path.startsWith('sdk/')));
    assert.deepEqual(
      imports.filter((path) => path.startsWith('src/')),
      [],
    );
  });

  it('allows the client in sdk/ only the formats of the log and of sealed keys from outside, and one package later', () => {
    const outside = [...readSources('sdk/src')].flatMap(([path, text]) =>
      [...text.matchAll(/\sfrom\s+'([^']+)'|\bimport\('([^']+)'\)/g)]
        .map(([, fixed, loaded]) => ({ specifier: fixed ?? loaded ?? '', isLater: !fixed }))
        .filter(
          ({ specifier }) =>
            !resolve(dirname(path), specifier).startsWith(SDK) || !specifier.startsWith('.'),
        )
        .map(
          ({ specifier, isLater }) =>
            `${relative(SDK, path)}: ${specifier}${isLater ? ', later' : ''}`,
        ),
    );
    assert.deepEqual(outside.sort(), [
      'receipt/ml-dsa-44.ts: @noble/post-quantum/ml-dsa.js, later',
      'receipt/tlog.ts: ../../../packages/tlog/src/index.ts',
      'sealing/formats.ts: ../../../packages/sealing/src/index.ts',
      'sealing/kems.ts: @noble/post-quantum/hybrid.js, later',
      'sealing/kems.ts: @noble/post-quantum/ml-kem.js, later',
    ]);
  });

  it('loads the server only for `serve`, a command only for its word, and remote answer checks only for remote sources', () => {
    assert.deepEqual(packagesLoadedBy('main.ts'), []);
    assert.deepEqual(packagesLoadedBy('cli/index.ts'), ['commander']);
    assert.deepEqual(packagesLoadedBy('cli/commands.ts'), []);
    assert.deepEqual(packagesLoadedBy('cli/client/generate.ts'), ['commander', 'hpke']);
    assert.deepEqual(packagesLoadedBy('service/threads/key-thread.ts'), []);
    // `hpke` once the suite worker seals.
    assert.ok(packagesLoadedBy('service/threads/suite-worker.ts').every((name) => name === 'hpke'));
    assert.deepEqual(packagesLoadedBy('entropy/restarted-source.ts'), []);
    // The server loads its modules while its threads start.
    assert.deepEqual(packagesLoadedBy('serve/index.ts'), []);
    const first = packagesLoadedBy('serve/listeners.ts');
    assert.ok(first.includes('fastify'));
    // Both with requests only: together they have two hundred modules.
    assert.ok(!first.includes('@fastify/swagger') && !first.includes('@fastify/ajv-compiler'));
    assert.ok(packagesLoadedBy('entropy/sources/qrng.ts').includes('typebox'));
  });

  it('keeps both databases out of suite workers, which make rows and store none', () => {
    const { files, packages } = loadedBy('service/threads/suite-worker.ts');
    const stores = [...files].filter((path) => /ledger.(?:index|sqlite|postgres)/.test(path));
    assert.deepEqual(stores, []);
    assert.ok(!packages.includes('node:sqlite') && packages.includes('node:crypto'));
    assert.ok(loadedBy('service/threads/key-thread.ts').packages.includes('node:sqlite'));
  });

  it('keeps the suite and the threads out of the doors for commands that need neither', () => {
    for (const door of [
      'keys/terms.ts',
      'service/offline.ts',
      'inspection/index.ts',
      'cli/admin/account.ts',
    ]) {
      const { files } = loadedBy(door);
      const heavy = [...files].filter((path) => /sp800-22.src.suite|service.index/.test(path));
      assert.deepEqual(heavy, [], door);
    }
    const server = [...loadedBy('service/index.ts').files];
    assert.ok(server.some((path) => path.endsWith('sp800-22/src/suite.ts')));
  });

  it('states at the door of each stage what goes in and out', () => {
    for (const [i, stage] of STAGES.entries()) {
      const door = readFileSync(join(ROOT, DOORS[`#${stage}`] ?? `src/${stage}/index.ts`), 'utf8');
      assert.match(
        door,
        new RegExp(`Stage ${i + 1} of 8\\. In: [\\s\\S]*Out: [\\s\\S]*Standard: `),
      );
      assert.doesNotMatch(door, /export \*/);
    }
    assert.match(readFileSync(join(SRC, 'http/app.ts'), 'utf8'), /Stage 8 of 8\. In: /);
  });
});

describe('tests that share a process', () => {
  it('are all imported by the test file named after their folder', () => {
    const groups = readdirSync(HTTP_TESTS).filter((name) => !name.includes('.'));
    assert.ok(groups.length > 0);
    for (const group of groups) {
      const file = join(HTTP_TESTS, `${group}.test.ts`);
      const imported = importsOf(file, readFileSync(file, 'utf8')).map(({ target }) => target);
      const modules = readdirSync(join(HTTP_TESTS, group)).map((name) =>
        join(HTTP_TESTS, group, name),
      );
      assert.deepEqual(imported.toSorted(), modules.toSorted());
    }
  });
});
