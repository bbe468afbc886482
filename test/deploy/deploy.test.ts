/** Compares the files of deploy/ with the service. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { describe, it } from 'node:test';
import { ENVIRONMENT, readConfig } from '../../src/config/index.ts';
import { SOURCE_NAMES } from '../../src/entropy/index.ts';
import { PROJECT_VERSION } from '../../src/process/version.ts';
import { copied } from '../support/programs/dockerfile.ts';
import { buildTestApp, standInService } from '../support/servers/app.ts';
import {
  type Document,
  deployFiles,
  find,
  type Instruction,
  ROOT,
  readDockerfile,
  readText,
  readYaml,
} from './files.ts';

/** Seconds for requests in progress after the listener has closed (docs/configuration.md). */
const DRAIN_LIMIT_SECONDS = 30;

const [compose] = readYaml('deploy/compose/compose.yaml');
const haproxy = readText('deploy/compose/haproxy.cfg');
const unit = readText('deploy/systemd/phm.service');
const kubernetes = ['base', 'migrate'].flatMap((folder) =>
  deployFiles()
    .filter((path) => path.startsWith(`deploy/kubernetes/${folder}/`))
    .flatMap(readYaml),
);
const image = readDockerfile('deploy/docker/Dockerfile');

const ofKind = (kind: string, name?: string): Document => {
  const found = kubernetes.find(
    (one) => one.kind === kind && (name === undefined || one.metadata.name === name),
  );
  assert.ok(found, `there is no ${kind} ${name ?? ''}`);
  return found;
};
const deployment = ofKind('StatefulSet');
const job = ofKind('Job');
const configMap = ofKind('ConfigMap').data as Record<string, string>;
const pod = deployment.spec.template.spec;
const server = pod.containers[0];
const replicas = ['replica-a', 'replica-b'].map((name) => compose.services[name]);
const proxy = compose.services.proxy;
const seconds = (text: string) => Number(find(text, /^(\d+)s$/));

/** Reads `NAME=value` lines without quotes. */
const assignments = (text: string): Record<string, string> =>
  Object.fromEntries(
    [...text.matchAll(/^(PHM_\w+)=(.*)$/gm)].map(([, name, value]) => [name, value]),
  );

/** systemd.unit(5): `%d` in a unit is the folder of its credentials. It replaces nothing in the file of variables. */
const expandedUnit = unit.replaceAll(/^Environment=/gm, '').replaceAll('%d', '/run/credentials');

const unitEnvironment = {
  ...assignments(expandedUnit),
  ...assignments(readText('deploy/systemd/phm.env.example')),
};

/** Returns the instructions of one name in the last stage. */
function inFinalStage(name: string): Instruction[] {
  const start = image.findLastIndex((one) => one.name === 'FROM');
  return image.slice(start).filter((one) => one.name === name);
}

/** Returns the directory of the log's state file in the image. */
function inFinalStateDirectory(): string {
  return dirname(find(inFinalStage('ENV')[0]?.text ?? '', /PHM_LOG_STATE_FILE=(\S+)/));
}

describe('deploy/', () => {
  it('names only variables that exist', () => {
    for (const path of deployFiles()) {
      for (const [name] of readText(path).matchAll(/\bPHM_[A-Z_]*[A-Z]\b/g)) {
        assert.ok(Object.hasOwn(ENVIRONMENT, name), `${path} names ${name}`);
      }
    }
  });

  it('sets variables only to accepted values', () => {
    const folder = mkdtempSync(join(tmpdir(), 'deploy-'));
    try {
      const url = join(folder, 'database-url');
      writeFileSync(url, 'postgres://phm:password@database/phm\n');
      for (const given of [replicas[0].environment, configMap, unitEnvironment]) {
        assert.ok(given.PHM_DATABASE_URL_FILE && given.PHM_MASTER_KEY_FILE);
        const env = { PHM_HOST: '0.0.0.0', ...given, PHM_DATABASE_URL_FILE: url };
        const result = readConfig(env, { cores: 2, knownSources: SOURCE_NAMES, serves: true });
        assert.deepEqual(result.ok ? result.warnings : result.problems, []);
      }
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });

  it('gives a server enough time to shut down', () => {
    const ends: [Record<string, string>, number][] = [
      ...replicas.map((one): [Record<string, string>, number] => [
        one.environment,
        seconds(one.stop_grace_period),
      ]),
      [configMap, pod.terminationGracePeriodSeconds],
      [unitEnvironment, Number(find(unit, /^TimeoutStopSec=(\d+)$/m))],
    ];
    for (const [{ PHM_DRAIN_SECONDS }, grace] of ends) {
      assert.ok(grace > Number(PHM_DRAIN_SECONDS) + DRAIN_LIMIT_SECONDS, `${grace} s`);
    }
  });

  it('makes checks notice an unready server before it stops listening', () => {
    const page = readText('docs/operations.md');
    assert.match(page, /PHM_DRAIN_SECONDS +> +interval × failures .* \+ timeout of one check/);
    const number = (pattern: RegExp) => Number(find(haproxy, pattern));
    const interval = number(/default-server check inter (\d+)ms/) / 1000;
    const failures = number(/default-server check.* fall (\d+)/);
    const notice = interval * failures + number(/timeout check (\d+)s/);
    // The systemd unit runs behind the same proxy (deploy/README.md).
    for (const { PHM_DRAIN_SECONDS } of [replicas[0].environment, unitEnvironment]) {
      assert.ok(Number(PHM_DRAIN_SECONDS) > notice, `${PHM_DRAIN_SECONDS} s for ${notice} s`);
    }
    const { periodSeconds, failureThreshold, timeoutSeconds } = server.readinessProbe;
    const seen = periodSeconds * failureThreshold + timeoutSeconds;
    assert.ok(Number(configMap.PHM_DRAIN_SECONDS) > seen, `${seen} s`);
  });

  it('makes proxies without checks close idle connections before a server stops listening', () => {
    for (const [path, pattern] of [
      ['deploy/nginx/phm.conf', /keepalive_timeout (\d+)s/],
      ['deploy/caddy/Caddyfile', /keepalive (\d+)s/],
    ] as const) {
      const idle = Number(find(readText(path), pattern));
      assert.ok(idle < Number(unitEnvironment.PHM_DRAIN_SECONDS), `${path}: ${idle} s`);
    }
  });

  it('keeps responses with keys off the disk of nginx', () => {
    const site = readText('deploy/nginx/phm.conf');
    const locations = site.match(/proxy_pass /g)?.length;
    assert.equal(site.match(/^ +proxy_max_temp_file_size 0;$/gm)?.length, locations);
  });

  it('names the version of the master secret from which a rotation starts', () => {
    for (const given of [replicas[0].environment, configMap, unitEnvironment]) {
      assert.equal(given.PHM_MASTER_KEY_VERSION, '1');
    }
  });

  it('probes existing routes', async () => {
    const app = await buildTestApp({ service: standInService('research') });
    try {
      const paths = [
        ...['livenessProbe', 'readinessProbe', 'startupProbe'].map(
          (name) => server[name].httpGet.path,
        ),
        find(haproxy, /http-check send meth GET uri (\S+)/),
        find(readText('deploy/docker/healthcheck.mjs'), /path: '([^']+)'/),
      ];
      for (const url of paths) assert.ok(app.hasRoute({ method: 'GET', url }), url);
    } finally {
      await app.close();
    }
  });

  it('names images of others by tag and digest, and one version of the service', () => {
    const images = [
      ...image.filter(({ name }) => name === 'FROM').map(({ text }) => text.split(' ')[0]),
      ...Object.values<Document>(compose.services).map((service) => service.image),
      ...[deployment, job].map((one) => one.spec.template.spec.containers[0].image),
    ] as string[];
    const [own, others] = [true, false].map((ours) =>
      images.filter((one) => one.startsWith('phm-key-service:') === ours),
    );
    for (const one of others ?? []) assert.match(one, /:\d+\.\d+[\w.-]*@sha256:[0-9a-f]{64}$/);
    assert.deepEqual(own, Array(5).fill(`phm-key-service:${PROJECT_VERSION}`));
    const [{ newTag }] = readYaml('deploy/kubernetes/image/kustomization.yaml')[0].images;
    assert.equal(newTag, PROJECT_VERSION);
    assert.equal(job.metadata.name, `phm-migrate-${PROJECT_VERSION.replaceAll('.', '-')}`);
  });
});

describe('deploy/docker', () => {
  it('copies existing files that .dockerignore allows, and allows nothing else', () => {
    const allowed = readText('.dockerignore')
      .split('\n')
      .filter((line) => line.startsWith('!'));
    const copies = image.filter(({ name }) => name === 'COPY').map(copied);
    const sources = copies.filter(({ from }) => !from).flatMap((one) => one.sources);
    for (const source of sources) assert.ok(existsSync(join(ROOT, source)), source);
    assert.deepEqual(allowed.map((line) => line.slice(1)).sort(), sources.sort());
    for (const { sources } of copies.filter(({ from }) => from)) {
      for (const source of sources) assert.match(source, /^\/opt\/phm\//);
    }
  });

  it('installs the library that the packaged Node links against, in each stage', () => {
    const stages = readText('deploy/docker/Dockerfile')
      .split(/^FROM /m)
      .slice(1);
    assert.equal(stages.length, 2);
    for (const stage of stages) assert.match(stage, /^ && apt-get install .*\blibatomic1\b/m);
  });

  it('runs as a numeric non-root user, with the signal and the port of the service', () => {
    assert.match(inFinalStage('USER').at(-1)?.text ?? '', /^[1-9]\d*:[1-9]\d*$/);
    assert.equal(inFinalStage('STOPSIGNAL')[0]?.text, 'SIGTERM');
    const { PHM_PORT } = Object.fromEntries(
      (inFinalStage('ENV')[0]?.text ?? '').split(' ').map((one) => one.split('=')),
    );
    assert.equal(inFinalStage('EXPOSE')[0]?.text, PHM_PORT);
    for (const name of ['REPLICA_A', 'REPLICA_B']) {
      assert.ok(proxy.environment[name].endsWith(`:${PHM_PORT}`));
    }
  });

  it('starts through a command that disables core dumps', () => {
    const root = mkdtempSync(join(tmpdir(), 'phm-bin-'));
    try {
      cpSync(join(ROOT, 'bin/phm'), join(root, 'bin/phm'));
      mkdirSync(join(root, 'node_modules/.bin'), { recursive: true });
      writeFileSync(join(root, 'node_modules/.bin/node'), '#!/bin/sh\nulimit -c; ulimit -H -c\n', {
        mode: 0o755,
      });
      const limits = execFileSync(join(root, 'bin/phm'), ['serve'], { encoding: 'utf8' });
      assert.equal(limits, '0\n0\n');
    } finally {
      rmSync(root, { recursive: true, force: true });
    }
  });
});

describe('deploy/compose', () => {
  const services = Object.entries<Document>(compose.services);

  it('references only what it defines', () => {
    for (const [name, service] of services) {
      for (const secret of service.secrets ?? []) {
        assert.ok(compose.secrets[secret.source ?? secret], `${name}: a secret`);
      }
      for (const network of networkNames(service)) {
        assert.ok(Object.hasOwn(compose.networks, network), `${name}: ${network}`);
      }
      for (const [other, { condition }] of Object.entries<Document>(service.depends_on ?? {})) {
        assert.ok(compose.services[other], `${name}: ${other}`);
        if (condition !== 'service_healthy') continue;
        const own = compose.services[other].build && inFinalStage('HEALTHCHECK').length > 0;
        assert.ok(own || compose.services[other].healthcheck, `${other} has no health check`);
      }
    }
    const { PHM_DATABASE_URL_FILE, PHM_MASTER_KEY_FILE, PHM_LOG_KEY_FILE } =
      replicas[0].environment;
    for (const file of [PHM_DATABASE_URL_FILE, PHM_MASTER_KEY_FILE, PHM_LOG_KEY_FILE]) {
      assert.ok(replicas[0].secrets.includes(file.replace('/run/secrets/', '')), file);
    }
  });

  it('publishes the proxy only and gives it the addresses of the replicas', () => {
    const published = services.filter(([, service]) => service.ports).map(([name]) => name);
    assert.deepEqual(published, ['proxy']);
    const [a, b] = replicas.map((one) => one.networks.replicas.ipv4_address);
    const { REPLICA_A, REPLICA_B } = proxy.environment;
    assert.deepEqual([REPLICA_A, REPLICA_B], [`${a}:8080`, `${b}:8080`]);
    const address = proxy.networks.replicas.ipv4_address;
    for (const one of replicas) assert.equal(one.environment.PHM_TRUST_PROXY, address);
    assert.equal(compose.networks.replicas.internal, true);
    assert.equal(compose.networks.storage.internal, true);
  });

  it('sets the proxy variables that the proxy configuration reads', () => {
    const read = [...haproxy.matchAll(/\$\{(\w+)\}/g)].map(([, name]) => name).sort();
    assert.deepEqual(Object.keys(proxy.environment).sort(), read);
  });

  it('exposes metrics to a Prometheus beside the replicas, and not through the proxy', () => {
    const { PHM_METRICS_HOST, PHM_METRICS_PORT } = replicas[0].environment;
    assert.equal(PHM_METRICS_HOST, '0.0.0.0');
    const example = readText('deploy/prometheus/prometheus.yml');
    for (const name of ['replica-a', 'replica-b']) {
      assert.ok(example.includes(`${name}:${PHM_METRICS_PORT}`));
    }
    assert.ok(!haproxy.includes(PHM_METRICS_PORT) && !haproxy.includes('/metrics'));
  });

  it('limits every container and takes its privileges away', () => {
    for (const [name, service] of services) {
      assert.deepEqual(service.cap_drop, ['ALL'], name);
      assert.deepEqual(service.security_opt, ['no-new-privileges:true'], name);
      assert.equal(service.read_only, true, name);
      assert.ok(service.mem_limit && service.memswap_limit === service.mem_limit, name);
    }
  });

  it('keeps the superuser of the database out of the service and the backup', () => {
    const { database, backup } = compose.services;
    const roles = readText('deploy/postgres/roles.sql');
    const made = [...roles.matchAll(/^ALTER ROLE (\w+) LOGIN NOSUPERUSER /gm)].map(
      ([, one]) => one,
    );
    assert.deepEqual(made, ['phm', backup.environment.PGUSER]);
    assert.ok(!made.includes(database.environment.POSTGRES_USER));
    assert.match(readText('deploy/README.md'), /'postgres:\/\/phm:%s@database\/phm\\n'/);
    assert.equal(backup.environment.PGDATABASE, database.environment.POSTGRES_DB);
    for (const { secrets, environment } of [database, backup]) {
      const files = Object.entries(environment).filter(([name]) => name.endsWith('_PASSWORD_FILE'));
      for (const [, file] of files) {
        assert.ok(secrets.includes(String(file).replace('/run/secrets/', '')), String(file));
      }
    }
  });

  it('mounts files that exist, those of the database at the paths that its scripts name', () => {
    const mounts = services.flatMap(([, { volumes = [] }]) => volumes as string[]);
    const own = mounts.map((one) => one.split(':')).filter(([from = '']) => /^\.\.?\//.test(from));
    for (const [from = ''] of own) {
      const path = join(ROOT, 'deploy/compose', from);
      // The folder of the backups is made at the installation.
      assert.ok(existsSync(path) || from === './backup', from);
    }
    const targets = own.map(([, to]) => to);
    const named = readText('deploy/postgres/init.sh').match(/\/etc\/phm\/\S+/g) ?? [];
    const printed = readText('deploy/README.md').match(/\/etc\/phm\/[\w-]+\.sql/g) ?? [];
    assert.equal(named.length, 1);
    assert.equal(printed.length, 2);
    for (const path of [...named, ...printed]) assert.ok(targets.includes(path), path);
  });

  it('keeps the database durable and gives its memory less than its limit', () => {
    const { command, mem_limit } = compose.services.database;
    const settings = new Map<string, string>(
      command.slice(1).map((one: string) => one.replace(/^-c/, '').split('=')),
    );
    for (const name of ['fsync', 'full_page_writes', 'synchronous_commit']) {
      assert.equal(settings.get(name), 'on', name);
    }
    assert.match(compose.services.database.environment.POSTGRES_INITDB_ARGS, /--data-checksums/);
    const mebibytes = (text: string) => Number.parseInt(text, 10) * (/g/i.test(text) ? 1024 : 1);
    const cached = mebibytes(settings.get('effective_cache_size') ?? '');
    assert.ok(mebibytes(settings.get('shared_buffers') ?? '') * 4 <= mebibytes(mem_limit));
    assert.ok(cached < mebibytes(mem_limit));
    // Four for commits and checks, three for statistics, four for the log (docs/ledger.md): twice during a restart.
    assert.ok(Number(settings.get('max_connections')) >= replicas.length * 2 * 11);
  });

  it('never sends a request twice', () => {
    assert.equal(find(haproxy, /^ {2}retry-on (.*)$/m), 'conn-failure');
  });
});

describe('deploy/systemd', () => {
  it('reads the credentials that it loads, and no others', () => {
    const loaded = [...unit.matchAll(/^LoadCredential=([^:]+):/gm)].map(([, name]) => name);
    const read = [...unit.matchAll(/=%d\/(\S+)$/gm)].map(([, name]) => name);
    assert.deepEqual(read.sort(), loaded.sort());
  });

  it('exposes metrics at the address of the example scrape configuration', () => {
    const { PHM_METRICS_PORT, PHM_METRICS_HOST } = unitEnvironment;
    const [{ scrape_configs }] = readYaml('deploy/prometheus/prometheus.yml');
    const { default: host } = ENVIRONMENT.PHM_METRICS_HOST;
    assert.equal(PHM_METRICS_HOST, undefined);
    assert.deepEqual(scrape_configs[0].static_configs[0].targets, [`${host}:${PHM_METRICS_PORT}`]);
  });

  it('restarts a hung server, but not one whose threads wait for the database', () => {
    assert.match(unit, /^Type=notify$/m);
    assert.match(unit, /^NotifyAccess=all$/m);
    assert.match(unit, /^Restart=on-failure$/m);
    assert.match(unit, /^RestrictAddressFamilies=.*\bAF_UNIX\b/m);
    // Three batches may each wait five seconds for a lock: docs/ledger.md.
    assert.ok(Number(find(unit, /^WatchdogSec=(\d+)$/m)) > 2 * 15.7);
  });

  it('waits for a command of the master secret, and for its failure in the log', () => {
    const limit = find(readText('docs/configuration.md'), /It has (\d+) s and 64 KiB/);
    assert.ok(Number(find(unit, /^TimeoutStartSec=(\d+)$/m)) >= 2 * Number(limit));
  });

  it('shuts the service off from the rest of the machine', () => {
    // systemd.exec(5), "Sandboxing" and what is beside it.
    const on =
      'NoNewPrivileges ProtectHome PrivateTmp PrivateDevices PrivateUsers ProtectClock ProtectControlGroups ProtectHostname ' +
      'ProtectKernelLogs ProtectKernelModules ProtectKernelTunables RemoveIPC RestrictNamespaces RestrictRealtime ' +
      'RestrictSUIDSGID LockPersonality DynamicUser';
    const values = [
      ...on.split(' ').map((name) => `${name}=yes`),
      ...['CapabilityBoundingSet=', 'AmbientCapabilities=', 'ProtectSystem=strict', 'UMask=0077'],
      ...['ProtectProc=invisible', 'ProcSubset=pid', 'SystemCallArchitectures=native'],
      ...['SystemCallFilter=@system-service', 'SystemCallFilter=~@privileged @resources'],
      // No key in a core dump or in swap.
      ...['LimitCORE=0', 'MemorySwapMax=0'],
    ];
    const lines = unit.split('\n');
    assert.deepEqual(
      values.filter((value) => !lines.includes(value)),
      [],
    );
  });

  it('allows V8 to compile code', () => {
    assert.match(unit, /^MemoryDenyWriteExecute=no$/m);
  });
});

describe('deploy/kubernetes', () => {
  const labels = (one: Document) => one.spec.template.metadata.labels;
  const matches = (selector: Record<string, string>, one: Document) =>
    Object.entries(selector).every(([name, value]) => labels(one)[name] === value);

  it('lists existing resources, components and patches', () => {
    const files = deployFiles().filter((path) => path.endsWith('/kustomization.yaml'));
    assert.equal(files.length, 4);
    for (const file of files) {
      const [{ resources = [], components = [], patches = [] }] = readYaml(file);
      for (const path of [
        ...resources,
        ...components,
        ...patches.map((one: Document) => one.path),
      ]) {
        assert.ok(existsSync(join(ROOT, dirname(file), path)), `${file}: ${path}`);
      }
    }
  });

  it('gives the server and the migration the image of one file', () => {
    const [{ images }] = readYaml('deploy/kubernetes/image/kustomization.yaml');
    for (const name of ['base', 'migrate']) {
      const [{ components }] = readYaml(`deploy/kubernetes/${name}/kustomization.yaml`);
      assert.deepEqual(components, ['../image']);
    }
    for (const one of [deployment, job]) {
      const [name] = one.spec.template.spec.containers[0].image.split(':');
      assert.equal(images[0].name, name);
    }
    // The digest is the operator's. A made-up one would look like a pin.
    assert.doesNotMatch(images[0].digest, /^sha256:[0-9a-f]{64}$/);
  });

  it('spreads the servers of the overlay, and nothing but them', () => {
    const [operations] = readYaml('deploy/kubernetes/overlays/spread/statefulset.yaml');
    const value = (path: string): Document =>
      operations.find((one: Document) => one.path === `/spec/template/spec/${path}`).value;
    const terms = value('affinity').podAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution;
    const [zones] = value('topologySpreadConstraints');
    assert.equal(terms[0].topologyKey, 'kubernetes.io/hostname');
    assert.deepEqual(
      [zones.topologyKey, zones.whenUnsatisfiable],
      ['topology.kubernetes.io/zone', 'DoNotSchedule'],
    );
    for (const { labelSelector } of [terms[0], zones]) {
      assert.equal(matches(labelSelector.matchLabels, deployment), true);
      assert.equal(matches(labelSelector.matchLabels, job), false);
    }
    // Counted by revision, an update could demand another zone than the one of the replica's volume.
    assert.equal(zones.matchLabelKeys, undefined);
  });

  it('selects the server, and the migration only where intended', () => {
    const selectors: [Record<string, string>, boolean][] = [
      [deployment.spec.selector.matchLabels, false],
      [ofKind('Service').spec.selector, false],
      [ofKind('PodDisruptionBudget').spec.selector.matchLabels, false],
      [ofKind('NetworkPolicy').spec.podSelector.matchLabels, true],
      ...pod.topologySpreadConstraints.map((one: Document) => [
        one.labelSelector.matchLabels,
        false,
      ]),
    ];
    for (const [selector, migration] of selectors) {
      assert.deepEqual([matches(selector, deployment), matches(selector, job)], [true, migration]);
    }
  });

  it('uses one port throughout', () => {
    const [{ name, containerPort }] = server.ports;
    assert.equal(String(containerPort), configMap.PHM_PORT);
    assert.equal(ofKind('Service').spec.ports[0].targetPort, name);
    assert.equal(ofKind('NetworkPolicy').spec.ingress[0].ports[0].port, containerPort);
    for (const probe of ['livenessProbe', 'readinessProbe', 'startupProbe']) {
      assert.equal(server[probe].httpGet.port, name);
      assert.equal(server[probe].httpGet.scheme, 'HTTPS');
    }
  });

  it('opens the metrics to Prometheus but not through the service', () => {
    const { name, containerPort } = server.ports[1];
    assert.equal(name, 'metrics');
    assert.equal(String(containerPort), configMap.PHM_METRICS_PORT);
    const annotations = deployment.spec.template.metadata.annotations;
    assert.equal(annotations['prometheus.io/port'], configMap.PHM_METRICS_PORT);
    assert.equal(annotations['prometheus.io/path'], '/metrics');
    assert.equal(annotations['prometheus.io/scrape'], 'true');
    const [, rule] = ofKind('NetworkPolicy').spec.ingress;
    assert.equal(rule.ports[0].port, containerPort);
    assert.ok(rule.from[0].namespaceSelector.matchLabels);
    assert.deepEqual(
      ofKind('Service').spec.ports.map(({ targetPort }: Document) => targetPort),
      ['https'],
    );
  });

  it('mounts every file that a variable names, from a secret that contains it', () => {
    const mounted = new Set<string>();
    for (const { name, mountPath } of server.volumeMounts) {
      const volume = pod.volumes.find((one: Document) => one.name === name);
      if (!volume) continue;
      const secret = ofKind('Secret', volume.secret.secretName);
      for (const key of Object.keys(secret.stringData)) mounted.add(`${mountPath}/${key}`);
    }
    const { PHM_LOG_STATE_FILE, ...others } = configMap;
    const named = Object.entries(others).filter(([name]) => name.endsWith('_FILE'));
    assert.deepEqual(named.map(([, path]) => path).sort(), [...mounted].sort());
    assert.equal(server.envFrom[0].configMapRef.name, ofKind('ConfigMap').metadata.name);
  });

  it('keeps the state of the log on a volume of each replica, as the other deployments do', () => {
    const [{ metadata, spec }] = deployment.spec.volumeClaimTemplates;
    const mount = server.volumeMounts.find(({ name }: Document) => name === metadata.name);
    assert.equal(dirname(configMap.PHM_LOG_STATE_FILE ?? ''), mount.mountPath);
    assert.deepEqual(spec.accessModes, ['ReadWriteOnce']);
    const volumes = replicas.flatMap((one) => one.volumes as string[]);
    assert.equal(new Set(volumes).size, replicas.length);
    for (const volume of volumes) {
      const [name = '', path] = volume.split(':');
      assert.ok(Object.hasOwn(compose.volumes, name), name);
      assert.equal(inFinalStateDirectory(), path);
    }
    assert.equal(mount.mountPath, inFinalStateDirectory());
    const directory = dirname(unitEnvironment.PHM_LOG_STATE_FILE ?? '');
    assert.ok(
      find(unit, /^StateDirectory=(.*)$/m)
        .split(' ')
        .includes(basename(directory)),
    );
  });

  it('contains no secret value', () => {
    for (const secret of kubernetes.filter(({ kind }) => kind === 'Secret')) {
      assert.deepEqual([...new Set(Object.values(secret.stringData))], ['']);
    }
  });

  it('gives each pod only the privileges it needs', () => {
    for (const { securityContext, containers, automountServiceAccountToken } of [
      pod,
      job.spec.template.spec,
    ]) {
      assert.equal(automountServiceAccountToken, false);
      assert.equal(securityContext.runAsNonRoot, true);
      const ids = `${securityContext.runAsUser}:${securityContext.runAsGroup}`;
      assert.equal(ids, inFinalStage('USER').at(-1)?.text);
      assert.equal(securityContext.seccompProfile.type, 'RuntimeDefault');
      assert.deepEqual(containers[0].securityContext, {
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ['ALL'] },
      });
    }
    assert.equal(configMap.PHM_WORKERS, server.resources.limits.cpu);
  });
});

describe('docs/incidents.md', () => {
  it('quotes only messages that the service logs', () => {
    const sources = readdirSync(join(ROOT, 'src'), { recursive: true, encoding: 'utf8' });
    const code = sources
      .filter((path) => path.endsWith('.ts'))
      .map((path) => readText(join('src', path)))
      .join('\n');
    const table = find(readText('docs/incidents.md'), /## In the log\n([\s\S]*?)(?=\n#|$)/);
    const messages = [...table.matchAll(/^\| `([^`]+)`/gm)].map(([, message]) => message ?? '');
    assert.ok(messages.length >= 5);
    for (const message of messages) {
      const literal = message.replace(/^(entropy source: ).*| …$/, '$1');
      assert.ok(code.includes(literal), message);
    }
  });
});

function networkNames({ networks }: Document): string[] {
  return Array.isArray(networks) ? networks : Object.keys(networks);
}
