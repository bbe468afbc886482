/** Figures in the text format of Prometheus (version 0.0.4). */

const PREFIX = 'phm_agent_';

type Labels = Readonly<Record<string, string>>;

/** Counters and gauges by their names without the prefix, with what they mean. */
export class Figures<Counter extends string, Gauge extends string> {
  readonly #counters: Readonly<Record<Counter, string>>;
  readonly #gauges: Readonly<Record<Gauge, string>>;
  readonly #counts = new Map<string, Map<string, number>>();

  constructor(
    counters: Readonly<Record<Counter, string>>,
    gauges: Readonly<Record<Gauge, string>>,
  ) {
    this.#counters = counters;
    this.#gauges = gauges;
  }

  /** Counts; by nothing, so that a counter is there from the start. */
  count(name: Counter, by: number, labels: Labels = {}): void {
    const counts = this.#counts.get(name) ?? new Map<string, number>();
    const key = labelText(labels);
    this.#counts.set(name, counts.set(key, (counts.get(key) ?? 0) + by));
  }

  /** Returns the page of all. `valuesOf` returns the values of a gauge, each with its labels before it. */
  text(valuesOf: (gauge: Gauge) => readonly string[]): string {
    const counters = Object.entries<string>(this.#counters).flatMap(([name, help]) => {
      const values = [...(this.#counts.get(name) ?? [])].map(([labels, n]) => `${labels} ${n}`);
      return lines(name, 'counter', help, values);
    });
    const gauges = Object.entries<string>(this.#gauges).flatMap(([name, help]) =>
      lines(name, 'gauge', help, valuesOf(name as Gauge)),
    );
    return `${[...counters, ...gauges].join('\n')}\n`;
  }
}

function lines(name: string, kind: string, help: string, values: readonly string[]): string[] {
  const whole = `${PREFIX}${name}`;
  const heading = [`# HELP ${whole} ${help}`, `# TYPE ${whole} ${kind}`];
  return [...heading, ...values.map((value) => `${whole}${value}`)];
}

export function labelText(labels: Labels): string {
  const parts = Object.entries(labels).map(([name, value]) => `${name}="${escaped(value)}"`);
  return parts.length === 0 ? '' : `{${parts.join(',')}}`;
}

const escaped = (value: string): string =>
  value.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n');
