/** As much of PostgreSQL as a login and one-row statements need, with a role that a test can change. */
import { createServer, type Server, type Socket } from 'node:net';
import { type SecureContextOptions, TLSSocket } from 'node:tls';

const SSL_REQUEST = 80_877_103;
const GSS_REQUEST = 80_877_104;
const BOOL = 16;
const TEXT = 25;
const INT4 = 23;
const JSON_TYPE = 114;

/** Serves all sessions of a pooler that does not keep them. */
const SHARED_PROCESS = 1_000;

/** The ledger that every session finds. */
const LEDGER = { schema: 'public', path: ['public'], holders: ['public'], place: '0', secrets: {} };

type Column = readonly [name: string, type: number, value: string | null];

function message(type: string, ...parts: readonly (Buffer | string | number)[]): Buffer {
  const body = Buffer.concat(
    parts.map((part) => {
      if (typeof part === 'string') return Buffer.from(`${part}\0`);
      return typeof part === 'number' ? int32(part) : part;
    }),
  );
  return Buffer.concat([Buffer.from(type), int32(body.length + 4), body]);
}

function int32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32BE(value);
  return bytes;
}

function int16(value: number): Buffer {
  return int32(value).subarray(2);
}

function rowOf(columns: readonly Column[]): Buffer {
  const described = columns.flatMap(([name, type]) => [
    Buffer.from(`${name}\0`),
    ...[int32(0), int16(0), int32(type), int16(-1), int32(-1), int16(0)],
  ]);
  const values = columns.map(([, , value]) =>
    value === null
      ? int32(-1)
      : Buffer.concat([int32(Buffer.byteLength(value)), Buffer.from(value)]),
  );
  return Buffer.concat([
    message('T', int16(columns.length), ...described),
    message('D', int16(columns.length), ...values),
    message('C', 'SELECT 1'),
  ]);
}

function failure(state: string, words: string): Buffer {
  return message('E', 'SFATAL', `C${state}`, `M${words}`, Buffer.alloc(1));
}

const READY = message('Z', Buffer.from('I'));

/** What a client sent to log in. */
interface Login {
  readonly user: string;
  readonly database: string;
  readonly password: string;
}

export class FakePostgres {
  readonly name: string;
  role: 'primary' | 'read-only' | 'standby';
  timeline: number;
  /** Its system identifier. */
  cluster = '7';
  /** False: accepts connections and says nothing. */
  answers = true;
  /** The pool mode of a pooler before it; null: there is none. */
  pooling: 'session' | 'transaction' | 'statement' | null = null;
  /** The certificate and its key; null: refuses TLS. */
  tls: SecureContextOptions | null = null;
  /** The SQLSTATE of its answer to a login; null: lets every user in. */
  refuses: string | null = null;
  readonly logins: Login[] = [];
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  /** How many sessions were opened. */
  #opened = 0;

  private constructor(name: string, role: FakePostgres['role'], timeline: number) {
    this.name = name;
    this.role = role;
    this.timeline = timeline;
    this.#server = createServer((socket) => this.#serve(socket));
  }

  static async start(
    name: string,
    role: FakePostgres['role'] = 'primary',
    timeline = 1,
  ): Promise<FakePostgres> {
    const fake = new FakePostgres(name, role, timeline);
    await fake.listen(0);
    return fake;
  }

  listen(port: number): Promise<void> {
    return new Promise((resolve) => this.#server.listen(port, '0.0.0.0', resolve));
  }

  get port(): number {
    return (this.#server.address() as { port: number }).port;
  }

  get connections(): number {
    return this.#sockets.size;
  }

  /** Refuses connections from here on, and ends those that are open. */
  stop(): void {
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
  }

  #serve(socket: Socket): void {
    this.#sockets.add(socket);
    socket.on('close', () => this.#sockets.delete(socket));
    this.#attend(socket);
  }

  #attend(socket: Socket): void {
    socket.on('error', () => {});
    let login: Omit<Login, 'password'> | null = null;
    let pending = Buffer.alloc(0);
    let parses = false;
    const session = ++this.#opened;
    socket.on('data', (chunk: Buffer) => {
      if (!this.answers) return;
      pending = Buffer.concat([pending, chunk]);
      for (;;) {
        const start = login === null ? 0 : 1;
        if (pending.length < start + 4) return;
        const length = pending.readInt32BE(start);
        if (pending.length < start + length) return;
        const type = String.fromCharCode(pending[0] ?? 0);
        const body = pending.subarray(start + 4, start + length);
        pending = pending.subarray(start + length);
        if (login === null && this.tls && body.readInt32BE(0) === SSL_REQUEST) {
          socket.removeAllListeners('data').write('S');
          this.#attend(new TLSSocket(socket, { isServer: true, ...this.tls }));
        } else if (login === null) {
          login = this.#greet(socket, body);
        } else if (type === 'p' && this.refuses !== null) {
          socket.end(failure(this.refuses, 'refused'));
        } else if (type === 'p') {
          this.logins.push({ ...login, password: body.toString().slice(0, -1) });
          socket.write(Buffer.concat([message('R', 0), this.#identify(session), READY]));
        } else if (type === 'Q') {
          socket.write(Buffer.concat([this.#result(body.toString(), session), READY]));
        } else if (type === 'P') {
          parses = true;
        } else if (type === 'S') {
          const parsed = parses ? message('1') : Buffer.alloc(0);
          parses = false;
          socket.write(Buffer.concat([parsed, message('2'), this.#who(), READY]));
        }
      }
    });
  }

  /** Asks for a password in the clear. Returns null for a question about encryption. */
  #greet(socket: Socket, body: Buffer): Omit<Login, 'password'> | null {
    if ([SSL_REQUEST, GSS_REQUEST].includes(body.readInt32BE(0))) {
      socket.write('N');
      return null;
    }
    const words = body.subarray(4).toString().split('\0');
    const after = (name: string) => words[words.indexOf(name) + 1] ?? '';
    socket.write(message('R', 3));
    return { user: after('user'), database: after('database') };
  }

  /** Tells a client its process; a pooler tells a number of its own. */
  #identify(session: number): Buffer {
    return message('K', this.pooling === null ? session : -session, 0);
  }

  #result(text: string, session: number): Buffer {
    if (this.pooling === 'statement' && text.startsWith('BEGIN')) {
      return failure('08P01', 'transaction blocks not allowed in statement pooling mode');
    }
    const rows = [
      ...(text.includes('"startedAt"') ? [this.#state()] : []),
      ...(text.includes('AS backend') ? [this.#ledger(session)] : []),
    ];
    const isOne = /^SELECT [^;]*$/.test(text);
    return Buffer.concat([...(isOne ? [] : [message('C', 'SET')]), ...rows]);
  }

  #state(): Buffer {
    const [isStandby, isReadOnly] = [this.role === 'standby', this.role !== 'primary'];
    return rowOf([
      ['isStandby', BOOL, isStandby ? 't' : 'f'],
      ['isReadOnly', BOOL, isReadOnly ? 't' : 'f'],
      ['timeline', INT4, isStandby ? null : String(this.timeline)],
      ['cluster', TEXT, this.cluster],
      ['startedAt', TEXT, this.name],
    ]);
  }

  #ledger(session: number): Buffer {
    const keepsSessions = this.pooling === null || this.pooling === 'session';
    return rowOf([
      ['ledger', JSON_TYPE, JSON.stringify(LEDGER)],
      ['backend', INT4, String(keepsSessions ? session : SHARED_PROCESS)],
    ]);
  }

  #who(): Buffer {
    return rowOf([['name', TEXT, this.name]]);
  }
}
