/** Types of the part of autocannon that the benchmarks use; the package has none. */
declare module 'autocannon' {
  import type { EventEmitter } from 'node:events';

  interface Options {
    readonly url: string;
    readonly method: 'GET' | 'POST';
    readonly headers: Readonly<Record<string, string>>;
    readonly body: string;
    readonly connections: number;
    /** Seconds. */
    readonly duration: number;
    readonly excludeErrorStats?: boolean;
    readonly requests?: readonly {
      readonly method: string;
      readonly path: string;
      readonly body: string;
      /** Returns the next request of a connection. */
      readonly setupRequest: (request: { readonly headers?: object }) => object;
    }[];
  }

  interface Result {
    readonly '2xx': number;
    readonly non2xx: number;
    readonly errors: number;
    readonly timeouts: number;
    readonly statusCodeStats: Readonly<Record<string, { readonly count: number }>>;
    /** Seconds. */
    readonly duration: number;
  }

  export default function autocannon(
    options: Options,
    done: (error: Error | null, result: Result) => void,
  ): EventEmitter;
}
