/**
 * The key delivery interface of ETSI GS QKD 014 V1.1.1, https://www.etsi.org/deliver/etsi_gs/QKD/001_099/014/. The agent is
 * the KME of its systems (SAEs). There is no QKD link: a key service makes the keys.
 */

import type { Keeper } from '../keys/keeper.ts';
import {
  type Answer,
  answered,
  badRequest,
  jsonAnswer,
  type Refusals,
  RequestError,
} from '../listeners/answer.ts';
import { requireMethod, type SystemRequest } from '../listeners/request.ts';
import { KEY_SIZES, type KeySize } from '../source/key-boxes.ts';
import { keysAnswer } from './answer.ts';
import {
  keyIdsOfBody,
  keyIdsOfQuery,
  keyRequestOfBody,
  keyRequestOfQuery,
  type Method,
  MOST_KEYS,
  parseTarget,
  type Target,
} from './request.ts';

interface Etsi014Options {
  readonly keeper: Keeper;
  /** The agent's own name: its KME ID. */
  readonly name: string;
  /** Size of keys whose request states none. */
  readonly size: KeySize;
  /** Most keys of a pool. */
  readonly most: number;
}

const ALLOWED: Readonly<Record<Method, readonly string[]>> = {
  status: ['GET'],
  enc_keys: ['GET', 'POST'],
  dec_keys: ['GET', 'POST'],
};

/** Tables 4, 6 and 8. */
const REFUSALS: Refusals = {
  'not-allowed': [401, 'this SAE may not have such keys'],
  'not-found': [400, 'one or more keys specified are not found on KME'],
  unavailable: [503, 'the key service cannot be reached, or no key is ready: try again'],
};

export class Etsi014 {
  readonly #given: Etsi014Options;

  constructor(given: Etsi014Options) {
    this.#given = given;
  }

  /** Resolves with the answer, also to what is wrong. Rejects only for a defect. */
  answer(request: SystemRequest): Promise<Answer> {
    return answered(() => this.#serve(request), REFUSALS);
  }

  async #serve({ method, target, caller, body }: SystemRequest): Promise<Answer> {
    const wanted = parseTarget(target);
    requireMethod(method, ALLOWED[wanted.method]);
    if (caller === null) {
      throw new RequestError(401, 'the certificate names no SAE: it needs one URI as its name');
    }
    if (wanted.method === 'status') return this.#status(caller, wanted.system);
    const text = method === 'POST' ? await body() : null;
    return wanted.method === 'enc_keys'
      ? this.#take(caller, wanted, text)
      : this.#read(caller, wanted, text);
  }

  /** Clause 6.1. */
  #status(master: string, slave: string): Answer {
    const { keeper, name, size, most } = this.#given;
    const { route, ready, seconds } = keeper.pair(master, slave);
    return jsonAnswer({
      source_KME_ID: name,
      target_KME_ID: route.slaves[0]?.agent.name,
      master_SAE_ID: master,
      slave_SAE_ID: slave,
      key_size: size,
      stored_key_count: ready,
      max_key_count: most,
      max_key_per_request: MOST_KEYS,
      max_key_size: KEY_SIZES.at(-1),
      min_key_size: KEY_SIZES[0],
      max_SAE_ID_count: keeper.mostFurther(master, slave),
      // How long the stored keys last at the present demand.
      ...(seconds === null ? {} : { status_extension: { stored_seconds: Math.floor(seconds) } }),
    });
  }

  async #take(master: string, { system, query }: Target, body: string | null): Promise<Answer> {
    const { keeper, size: usual } = this.#given;
    const { number, size, further } =
      body === null ? keyRequestOfQuery(query, usual) : keyRequestOfBody(body, usual);
    if (further.includes(system)) {
      throw badRequest('additional_slave_SAE_IDs has the SAE ID of the path');
    }
    return keysAnswer(await keeper.take(master, [system, ...further], number, size));
  }

  async #read(slave: string, { system, query }: Target, body: string | null): Promise<Answer> {
    const ids = body === null ? keyIdsOfQuery(query) : keyIdsOfBody(body);
    return keysAnswer(await this.#given.keeper.read(slave, system, ids));
  }
}
