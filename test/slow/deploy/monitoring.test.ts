/** Compares rules, dashboard and docs of the metrics with the page of a running server. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { allMetrics } from '../../../scripts/docs/tables/metrics.ts';
import { newLogKeysText, parseLogKeys } from '../../../src/log/index.ts';
import { type Document, find, ROOT, readText, readYaml } from '../../deploy/files.ts';
import { until } from '../../support/run/until.ts';
import { makeDataDir, removeDataDir, Server } from '../../support/servers/server.ts';
import { anchors } from '../../support/texts/markdown.ts';

const RULES = 'deploy/prometheus/phm-alerts.yml';
const TESTS = readdirSync(join(ROOT, 'deploy/prometheus'))
  .filter((name) => name.endsWith('.test.yml'))
  .map((name) => `deploy/prometheus/${name}`);
const dashboard: Document = JSON.parse(readText('deploy/grafana/phm-dashboard.json'));

const rules: Document[] = readYaml(RULES)[0].groups.flatMap((group: Document) => group.rules);
const alerts = rules.filter(({ alert }) => alert);
const panels: Document[] = dashboard.panels.filter(({ type }: Document) => type !== 'row');
const dashboardQueries: string[] = [
  ...panels.flatMap(({ targets }) => targets.map(({ expr }: Document) => expr)),
  ...dashboard.annotations.list.map(({ expr }: Document) => expr),
  ...dashboard.templating.list.flatMap(({ definition }: Document) => definition ?? []),
];

/** Labels of series that appear with their first event, or with PostgreSQL. */
const RARE: Record<string, readonly string[]> = {
  phm_http_request_duration_seconds: ['own_share'],
  phm_database_host: ['host'],
};

const STALE = 'docs/monitoring.md differs from the server: run "npm run docs"';

const DATA_SOURCE = ['$', '{datasource}'].join('');

/** Returns the metric names in an expression: of the service and of the process. */
const namesIn = (expression: string): string[] =>
  expression.match(/\b(?:phm|nodejs|process)_[a-z0-9_]+\b/g) ?? [];

/** Returns the label selectors of an expression with their metrics: `{label="value"}`. */
const selectorsIn = (expression: string): [metric: string, label: string, value: string][] =>
  [...expression.matchAll(/\b(phm_[a-z0-9_]+)\{([^}]*)\}/g)].flatMap(([, metric = '', labels]) =>
    [...(labels ?? '').matchAll(/(\w+)(?:=~|!~|=)"([^"]*)"/g)].map(
      ([, label = '', value = '']): [string, string, string] => [metric, label, value],
    ),
  );

/** The metrics of a page, with their types and labels. */
class Page {
  readonly text: string;
  readonly types: ReadonlyMap<string, string>;

  constructor(text: string) {
    this.text = text;
    const types = [...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)];
    this.types = new Map(types.map(([, name = '', type = '']) => [name, type]));
  }

  /** Returns the metric of a name in a query, if there is one. */
  metricOf(name: string): string | undefined {
    const base = name.replace(/_(?:bucket|sum|count)$/, '');
    if (this.types.get(base) === 'histogram') return base;
    return this.types.has(name) ? name : undefined;
  }

  valuesOf(metric: string, label: string): Set<string> {
    const series = this.text.matchAll(
      new RegExp(`^${metric}(?:_bucket|_sum|_count)?\\{(?:.*,)?${label}="([^"]*)"`, 'gm'),
    );
    return new Set([...series].map(([, value = '']) => value));
  }
}

/** Metrics whose series come from the background: a source is read, a witness is asked. */
const BESIDE = ['phm_entropy_pool_draws', 'phm_log_witness_failures_total'];

const dataDir = makeDataDir();
let server: Server;
let page: Page;
before(async () => {
  // A witness that no one can reach, so that its failures have a series.
  const { verifierKeys } = parseLogKeys(newLogKeysText('witness.example'));
  const witnesses = join(dataDir, 'witnesses.txt');
  writeFileSync(witnesses, `witness one ${verifierKeys.mlDsa44} http://127.0.0.1:9\nquorum one\n`);
  // `jitter` is read in the background, so that pools have series, and it latches nothing.
  server = await Server.start(dataDir, {
    PHM_METRICS_PORT: '0',
    PHM_ENTROPY_SOURCES: 'os,jitter',
    PHM_LOG_WITNESSES: witnesses,
  });
  await server.generate({ security_level: 256, enable_nist_validation: true });
  await until('what happens beside the requests has its series', async () => {
    page = new Page(await server.scrape());
    return BESIDE.every((metric) => page.text.includes(`\n${metric}{`));
  });
});
after(async () => {
  await server?.stop();
  removeDataDir(dataDir);
});

describe('the rules and the dashboard', () => {
  it('query only metrics that exist', () => {
    const recorded = new Set(rules.flatMap(({ record }) => record ?? []));
    const expressions = [...rules.map(({ expr }) => expr as string), ...dashboardQueries];
    for (const expression of expressions) {
      for (const name of namesIn(expression.replaceAll(/\bphm:[a-z0-9_:]+/g, ''))) {
        assert.ok(page.metricOf(name), `${name} in ${expression}`);
      }
      for (const [name] of expression.matchAll(/\bphm:[a-z0-9_:]+/g)) {
        assert.ok(recorded.has(name), `${name} in ${expression}`);
      }
    }
    assert.ok(namesIn(expressions.join(' ')).length > 80);
  });

  it('select by labels and values that exist', () => {
    const expressions = [...rules.map(({ expr }) => expr as string), ...dashboardQueries];
    let compared = 0;
    for (const [name, label, value] of expressions.flatMap(selectorsIn)) {
      if (label === 'job' || label === 'instance') continue;
      const values = page.valuesOf(page.metricOf(name) ?? '', label);
      const pattern = new RegExp(`^(?:${value})$`);
      assert.ok(
        [...values].some((one) => pattern.test(one)),
        `${name}: no ${label} is ${value}`,
      );
      compared += 1;
    }
    assert.ok(compared > 20);
  });

  it('include every metric of the service in a panel', () => {
    const used = new Set(dashboardQueries.flatMap(namesIn).map((name) => page.metricOf(name)));
    const unseen = new Set(
      allMetrics().flatMap(({ name, panel }) => (panel === false ? name : [])),
    );
    const own = [...page.types.keys()].filter((name) => name.startsWith('phm_'));
    const without = own.filter((name) => !used.has(name) && !unseen.has(name));
    const words = `no panel in deploy/grafana/phm-dashboard.json for ${without.join(', ')}`;
    assert.ok(own.length > 0 && without.length === 0, words);
  });
});

describe('the range of a query', () => {
  it('contains at least two samples on the dashboard, at any zoom', () => {
    const ranges = dashboardQueries.flatMap((query) => query.match(/\[[^\]]+\]/g) ?? []);
    assert.deepEqual([...new Set(ranges)].sort(), ['[$__rate_interval]', '[1d]']);
  });
});

describe('an alert', () => {
  it('says what happened and where to read what to do', () => {
    assert.ok(alerts.length > 15);
    for (const { alert, annotations, labels } of alerts) {
      assert.match(labels.severity, /^(?:critical|warning)$/, alert);
      assert.ok(annotations.summary && annotations.description, alert);
      const [page = '', anchor = ''] = find(
        annotations.runbook,
        /^(docs\/(?:incidents|monitoring|operations)\.md#[\w-]+): \S/,
      ).split('#');
      assert.ok(anchors(readText(page)).has(anchor), `${alert}: ${page}#${anchor}`);
    }
  });

  it('has a unit test in which it fires, and one in which it does not', () => {
    const checks = TESTS.flatMap((file) => readYaml(file)[0].tests).flatMap(
      ({ alert_rule_test }: Document) => alert_rule_test ?? [],
    );
    for (const { alert, labels } of alerts) {
      const severities = checks
        .filter(({ alertname }) => alertname === alert)
        .map(({ exp_alerts: expected }) =>
          (expected ?? []).map(({ exp_labels }: Document) => exp_labels.severity),
        );
      const fires = (one: string[]) => one.includes(labels.severity);
      assert.ok(severities.some(fires), `${alert} (${labels.severity}) fires in no test`);
      assert.ok(!severities.every(fires), `${alert} (${labels.severity}) is quiet in no test`);
    }
  });

  it('is listed in docs/incidents.md, which lists no others', () => {
    const table = find(readText('docs/incidents.md'), /## By alert\n([\s\S]*?)(?=\n## )/);
    const cells = [...table.matchAll(/^\| (`[^|]*)\|/gm)].map(([, cell = '']) => cell);
    const listed = cells.flatMap((cell) => cell.match(/Phm\w+/g) ?? []);
    // One name may have two severities.
    const names = new Set(alerts.map(({ alert }) => alert));
    assert.deepEqual(listed.sort(), [...names].sort());
  });
});

describe('docs/monitoring.md', () => {
  it('lists each metric of the service with its type and labels', () => {
    const section = find(readText('docs/monitoring.md'), /## Metrics\n([\s\S]*?)(?=\n## )/);
    const rows = new Map(
      [...section.matchAll(/^\| `(phm_\w+)` \| (\w+) \|([^|]*)\|/gm)].map(
        ([, name = '', type = '', labels = '']) => [name, { type, labels }],
      ),
    );
    const own = [...page.types].filter(([name]) => name.startsWith('phm_'));
    assert.deepEqual([...rows.keys()].sort(), own.map(([name]) => name).sort(), STALE);
    for (const [name, type] of own) {
      assert.equal(rows.get(name)?.type, type, `${name}: ${STALE}`);
      const exposed = page.text
        .split('\n')
        .filter((line) => page.metricOf(line.split(/[{ ]/)[0] ?? '') === name)
        .flatMap((line) => [...line.matchAll(/(\w+)="/g)].map(([, label = '']) => label))
        .filter((label) => label !== 'le');
      const named = [...(rows.get(name)?.labels ?? '').matchAll(/`(\w+)`/g)].map(([, one]) => one);
      assert.deepEqual(
        named.sort(),
        [...new Set([...exposed, ...(RARE[name] ?? [])])].sort(),
        `${name}: ${STALE}, or correct its row in src/telemetry/`,
      );
    }
  });
});

describe('the dashboard', () => {
  it('is importable: it has a variable for the data source and no overlapping panels', () => {
    const [source, ...others] = dashboard.templating.list;
    assert.deepEqual(
      [source.name, source.type, source.query],
      ['datasource', 'datasource', 'prometheus'],
    );
    for (const one of [...others, ...panels, ...panels.flatMap(({ targets }) => targets)]) {
      assert.deepEqual(one.datasource, { type: 'prometheus', uid: DATA_SOURCE });
    }
    const ids = dashboard.panels.map(({ id }: Document) => id);
    assert.equal(new Set(ids).size, ids.length);
    assert.ok(dashboard.schemaVersion >= 39 && dashboard.uid && dashboard.title);
    const taken = new Set<string>();
    for (const { title, gridPos } of dashboard.panels) {
      for (let x = gridPos.x; x < gridPos.x + gridPos.w; x++) {
        for (let y = gridPos.y; y < gridPos.y + gridPos.h; y++) {
          assert.ok(x < 24 && !taken.has(`${x},${y}`), title);
          taken.add(`${x},${y}`);
        }
      }
    }
    const rows = dashboard.panels.filter(({ type }: Document) => type === 'row');
    assert.deepEqual(
      rows.map(({ title }: Document) => title),
      [
        'Overview',
        'Traffic',
        'Latency',
        'Keys',
        'Queues and batches',
        'Ledger',
        'Transparency log',
        'Entropy and generators',
        'Saturation',
      ],
    );
  });
});

const hasPromtool = spawnSync('promtool', ['--version']).status === 0;
const skip = hasPromtool ? false : 'promtool is not installed (Debian: package "prometheus")';

describe('promtool', { skip }, () => {
  const run = (args: readonly string[], input?: string) => {
    const { status, stdout, stderr } = spawnSync('promtool', args, {
      cwd: ROOT,
      encoding: 'utf8',
      input,
    });
    assert.equal(status, 0, `${stdout}${stderr}`);
    return `${stdout}${stderr}`;
  };

  it('accepts the rules and the example configuration', () => {
    run(['check', 'rules', RULES]);
    run(['check', 'config', 'deploy/prometheus/prometheus.yml']);
  });

  it('finds nothing wrong with the names of the metrics', () => {
    assert.equal(run(['check', 'metrics'], page.text), '');
  });

  it('parses every query of the dashboard', () => {
    const folder = mkdtempSync(join(tmpdir(), 'phm-queries-'));
    try {
      const queries = dashboardQueries.filter((expr) => !expr.startsWith('label_values('));
      const recorded = queries.map((expr: string, i) => ({
        record: `query:${i}`,
        expr: expr
          .replaceAll('$__interval_ms', '15000')
          .replaceAll('$__rate_interval', '1m')
          .replaceAll(/\$(job|instance)/g, '.*'),
      }));
      const file = join(folder, 'queries.yml');
      writeFileSync(file, JSON.stringify({ groups: [{ name: 'queries', rules: recorded }] }));
      run(['check', 'rules', file]);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});

const hasAmtool = spawnSync('amtool', ['--version']).status === 0;
const skipAmtool = hasAmtool
  ? false
  : 'amtool is not installed (Debian: "prometheus-alertmanager")';

describe('the Alertmanager example', () => {
  const { inhibit_rules: inhibitions } = readYaml('deploy/prometheus/alertmanager.yml')[0];

  it('names only alerts that exist', () => {
    const names = new Set(alerts.map(({ alert }) => alert));
    for (const { source_matchers: sources, target_matchers: targets } of inhibitions) {
      const named = [...sources, ...targets].flatMap((one: string) => one.match(/Phm\w+/g) ?? []);
      assert.ok(named.length >= 2);
      for (const name of named) assert.ok(names.has(name), name);
    }
  });

  it('mutes no alert of all servers because one is not ready', () => {
    const ofJob = inhibitions.filter(
      ({ equal }: { equal: string[] }) => !equal.includes('instance'),
    );
    assert.ok(ofJob.length > 0);
    for (const { source_matchers: sources } of ofJob) {
      assert.doesNotMatch(sources.join(' '), /PhmNotReady/);
    }
  });

  it('is accepted by amtool', { skip: skipAmtool }, () => {
    const { status, stdout, stderr } = spawnSync(
      'amtool',
      ['check-config', 'deploy/prometheus/alertmanager.yml'],
      { cwd: ROOT, encoding: 'utf8' },
    );
    assert.equal(status, 0, `${stdout}${stderr}`);
  });
});
