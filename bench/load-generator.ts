/**
 * A load generator in a process of its own. `LoadGenerator` (drive.ts) starts it and sends orders over IPC.
 *
 * It exists because the tail that a client measures contains the client's own pauses: autocannon costs as much per
 * request as a bare server. Here each connection sends the same prepared bytes, reads into one buffer for its whole life,
 * and of an answer reads the status and the length. One request is in progress per connection.
 */
import { connect, type Socket } from 'node:net';

/** Requests to send over several connections. */
export interface Order {
  readonly id: number;
  readonly host: string;
  readonly port: number;
  /** A whole request. */
  readonly request: string;
  /** Where in `request` digits count the requests, or null if all are the same. */
  readonly counter: { readonly at: number; readonly digits: number } | null;
  readonly connections: number;
  readonly warmUpMs: number;
  /** Milliseconds after the warm-up. */
  readonly countedMs: number;
  /** Requests a second at even intervals, or null for as many as are answered. */
  readonly perSecond: number | null;
}

export interface Answers {
  readonly id: number;
  /** Of 2xx answers after the warm-up, in no order. */
  readonly latenciesMs: Float64Array;
  /** Number of answers by any other status, and of connections by error. */
  readonly failures: ReadonlyMap<string, number>;
}

/** An answer that comes later than this after the end counts as a failure. */
const GRACE_MS = 10_000;

const READ_BYTES = 65_536;
const HEAD_END = Buffer.from('\r\n\r\n');
/** Without its first letter, which may be a capital. */
const LENGTH = Buffer.from('ontent-length: ');
const [ZERO, NINE] = Buffer.from('09');
const STATUS_AT = 'HTTP/1.1 '.length;

/** Numbers in an array that grows. */
class Series {
  #values = new Float64Array(2 ** 16);
  #length = 0;

  add(value: number): void {
    if (this.#length === this.#values.length) {
      const larger = new Float64Array(2 * this.#length);
      larger.set(this.#values);
      this.#values = larger;
    }
    this.#values[this.#length++] = value;
  }

  values(): Float64Array {
    return this.#values.slice(0, this.#length);
  }
}

/** Carries out one order. */
class Run {
  readonly order: Order;
  readonly latencies: Series = new Series();
  readonly failures: Map<string, number> = new Map();
  readonly #countsFrom: number;
  readonly #endsAt: number;
  readonly #intervalMs: number;
  readonly #idle: Connection[] = [];
  readonly #done: (answers: Answers) => void;
  readonly #open: Set<Connection> = new Set();
  /** Time at which the next request is due, if requests come at even intervals. */
  #nextDue: number;
  #numbers = 0;

  constructor(order: Order, done: (answers: Answers) => void) {
    this.order = order;
    this.#done = done;
    const now = performance.now();
    this.#nextDue = now;
    this.#countsFrom = now + order.warmUpMs;
    this.#endsAt = this.#countsFrom + order.countedMs;
    this.#intervalMs = order.perSecond === null ? 0 : 1000 / order.perSecond;
    for (let i = 0; i < order.connections; i++) this.#open.add(new Connection(this));
    if (order.perSecond !== null) this.#pace();
    setTimeout(() => this.#endAll(), order.warmUpMs + order.countedMs + GRACE_MS).unref();
  }

  nextNumber(): number {
    return ++this.#numbers;
  }

  fail(what: string): void {
    this.failures.set(what, (this.failures.get(what) ?? 0) + 1);
  }

  /** Gives a free connection its next request. */
  next(connection: Connection, now: number): void {
    if (this.#isOver(now)) connection.end();
    else if (this.order.perSecond === null) connection.send(now);
    else if (this.#nextDue > now) this.#idle.push(connection);
    else this.#sendDue(connection);
  }

  /** Takes a 2xx answer to a request of the time `from`. */
  answered(from: number, now: number): void {
    // A request that was due in time counts however late its answer comes: the slowest must not be left out.
    const inTime = this.order.perSecond !== null || now < this.#endsAt;
    if (from >= this.#countsFrom && inTime) this.latencies.add(now - from);
  }

  closed(connection: Connection): void {
    this.#open.delete(connection);
    if (this.#open.size > 0) return;
    const { id } = this.order;
    this.#done({ id, latenciesMs: this.latencies.values(), failures: this.failures });
  }

  #isOver(now: number): boolean {
    return (this.order.perSecond === null ? now : this.#nextDue) >= this.#endsAt;
  }

  #sendDue(connection: Connection): void {
    // The latency counts from the due time, so that a stall shows in every request that it delays.
    connection.send(this.#nextDue);
    this.#nextDue += this.#intervalMs;
  }

  #pace(): void {
    const now = performance.now();
    while (this.#nextDue <= now && !this.#isOver(now)) {
      const connection = this.#idle.pop();
      if (!connection) break;
      this.#sendDue(connection);
    }
    if (this.#isOver(now)) for (const connection of this.#idle) connection.end();
    else if (this.#open.size > 0) setTimeout(() => this.#pace(), 1);
  }

  #endAll(): void {
    for (const connection of this.#open) {
      this.fail('no answer in time');
      connection.end();
    }
  }
}

class Connection {
  readonly #run: Run;
  readonly #socket: Socket;
  readonly #request: Buffer;
  #from = 0;
  #status = 0;
  /** Bytes of the body that are still to come. */
  #missing = 0;
  #isOpen = true;

  constructor(run: Run) {
    this.#run = run;
    const { host, port, request } = run.order;
    // A connection changes its bytes only after the answer, when they have been sent.
    this.#request = Buffer.from(request, 'latin1');
    const buffer = Buffer.allocUnsafe(READ_BYTES);
    const callback = (bytes: number) => {
      this.#read(buffer, bytes);
      return true;
    };
    this.#socket = connect({ host, port, noDelay: true, onread: { buffer, callback } });
    this.#socket
      .on('connect', () => run.next(this, performance.now()))
      .on('error', ({ message }) => this.#fail(message))
      .on('end', () => this.#fail('closed by the server'));
  }

  /** Sends one request; its latency counts from `from`. */
  send(from: number): void {
    const { counter } = this.#run.order;
    if (counter) {
      const number = String(this.#run.nextNumber()).padStart(counter.digits, '0');
      this.#request.write(number, counter.at, 'latin1');
    }
    this.#from = from;
    this.#socket.write(this.#request);
  }

  end(): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    this.#socket.destroy();
    this.#run.closed(this);
  }

  #fail(what: string): void {
    if (this.#isOpen) this.#run.fail(what);
    this.end();
  }

  #read(buffer: Buffer, bytes: number): void {
    if (this.#missing > 0) {
      this.#missing -= bytes;
    } else {
      // Behind `bytes` the buffer has parts of earlier answers.
      const headEnd = buffer.indexOf(HEAD_END);
      const lengthAt = buffer.indexOf(LENGTH);
      if (headEnd < 0 || headEnd >= bytes || lengthAt < 0 || lengthAt > headEnd) {
        this.#fail('an answer without a length, or with a head in two parts');
        return;
      }
      this.#status = numberAt(buffer, STATUS_AT);
      const length = numberAt(buffer, lengthAt + LENGTH.length);
      this.#missing = headEnd + HEAD_END.length + length - bytes;
    }
    if (this.#missing === 0) this.#answered();
  }

  #answered(): void {
    const now = performance.now();
    if (this.#status >= 200 && this.#status < 300) this.#run.answered(this.#from, now);
    else this.#run.fail(`status ${this.#status}`);
    this.#run.next(this, now);
  }
}

/** Returns the decimal number that begins at an offset. */
function numberAt(bytes: Buffer, offset: number): number {
  let number = 0;
  for (let i = offset; bytes[i] >= ZERO && bytes[i] <= NINE; i++) {
    number = 10 * number + bytes[i] - ZERO;
  }
  return number;
}

process.on('message', (order: Order) => {
  new Run(order, (answers) => process.send?.(answers));
});
// A bench that is killed leaves no load behind.
process.on('disconnect', () => process.exit());
