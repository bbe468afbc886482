/**
 * The suite workers of a run. The page starts them, because a worker that starts a worker may hang in Firefox. The
 * worker of the run speaks to each through a channel.
 */
import { serve } from '../../../src/assess/worker.ts';
import { installPlatform, platform, type SuiteWorker } from '../../../src/platform.ts';
import type { SuiteFailure, SuiteOrder } from './messages.ts';

type Order = (order: SuiteOrder) => void;

/** The suite workers, as the worker of the run sees them. */
export class SuiteWorkers {
  readonly #workers: PortWorker[] = [];
  readonly #order: Order;

  /** `order` asks the page for a worker. */
  constructor(order: Order) {
    this.#order = order;
  }

  readonly start = (): SuiteWorker => {
    const worker = new PortWorker(this.#workers.length, this.#order);
    this.#workers.push(worker);
    return worker;
  };

  /** Tells the run what the page says about a worker. */
  fail({ worker, message }: SuiteFailure): void {
    this.#workers[worker]?.onerror?.({ message });
  }
}

/** A suite worker that is ordered with its first message. The page ends it with the run. */
class PortWorker implements SuiteWorker {
  readonly #number: number;
  readonly #order: Order;
  readonly #channel = new MessageChannel();
  #isOrdered = false;
  onmessage: SuiteWorker['onmessage'] = null;
  onerror: SuiteWorker['onerror'] = null;

  constructor(number: number, order: Order) {
    this.#number = number;
    this.#order = order;
    const { port1: port } = this.#channel;
    port.onmessage = (event) => this.onmessage?.(event);
    port.onmessageerror = () => this.onerror?.({ message: 'a report could not be read' });
  }

  postMessage(message: unknown, transfer: ArrayBuffer[]): void {
    const { port1, port2 } = this.#channel;
    if (this.#isOrdered) port1.postMessage(message, transfer);
    else this.#order({ kind: 'suite', worker: this.#number, port: port2, first: message });
    this.#isOrdered = true;
  }

  terminate(): void {
    this.#channel.port1.close();
  }
}

/** Serves the worker of the run that gave the order. Its later messages wait in the port. */
export function serveOrder({ port, first }: SuiteOrder): void {
  port.onmessageerror = failUnread;
  installPlatform({
    ...platform(),
    workerPort: () => ({
      postMessage: (message) => port.postMessage(message),
      close: () => port.close(),
      onMessage: (listen) => {
        listen(first);
        port.onmessage = ({ data }) => listen(data);
      },
    }),
  });
  serve();
}

/** Fails this worker, so that the page hears of it. */
export function failUnread(): void {
  throw new Error('a message to the worker could not be read');
}
