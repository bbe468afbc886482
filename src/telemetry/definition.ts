/** What the code says about a metric, and the metrics that are read at each scrape. */
import { Counter, Gauge, type Registry } from '@prometheus-io/client';

/** One value of a metric, with its labels. */
export type Sample = readonly [labels: Record<string, string>, value: number];

/** Returns one value without labels. */
export const one = (value: number | boolean): readonly Sample[] => [[{}, Number(value)]];

/** What users know of a metric. `npm run docs` writes it into `docs/monitoring.md`. */
export interface MetricTexts {
  readonly name: string;
  readonly help: string;
  /** What it means, in Markdown; `help` if left out. */
  readonly meaning?: string;
  readonly labelNames?: readonly string[];
  /** False: it needs no panel on the dashboard, because it is for alerts only, or a sum of metrics that have panels. */
  readonly panel?: false;
}

export interface Definition extends MetricTexts {
  readonly type: 'gauge' | 'counter';
  readonly read: () => readonly Sample[] | Promise<readonly Sample[]>;
}

/** Registers the metrics. The values of counters MUST only grow. */
export function addDefinitions(registry: Registry, definitions: readonly Definition[]): void {
  for (const { type, name, help, labelNames = [], read } of definitions) {
    const common = { registers: [registry], name, help, labelNames: [...labelNames] };
    if (type === 'gauge') {
      new Gauge({
        ...common,
        async collect() {
          const samples = await read();
          // A gauge without labels starts at 0, which would look like a value. Labels of an earlier page may be gone.
          this.reset();
          this.remove({});
          for (const [labels, value] of samples) this.set(labels, value);
        },
      });
    } else {
      new Counter({
        ...common,
        async collect() {
          const samples = await read();
          this.reset();
          // A counter that starts at 0 and then shows an old count would look like an increase.
          this.remove({});
          for (const [labels, value] of samples) this.inc(labels, value);
        },
      });
    }
  }
}
