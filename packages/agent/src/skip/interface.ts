/**
 * The Secure Key Integration Protocol of draft-cisco-skip-02. Each system has a key provider of its own, with the system's
 * name: so one agent serves several, and the list of remote key providers is that of the systems with which the caller shares
 * keys.
 */
import { randomBytes } from 'node:crypto';
import type { Keeper } from '../keys/keeper.ts';
import {
  type Answer,
  answered,
  jsonAnswer,
  type Refusals,
  RequestError,
} from '../listeners/answer.ts';
import { requireMethod, type SystemRequest } from '../listeners/request.ts';
import type { KeySize } from '../source/key-boxes.ts';
import { entropyAnswer, keyAnswer } from './answer.ts';
import { parseRequest, type SkipRequest } from './request.ts';

interface SkipOptions {
  readonly keeper: Keeper;
  /** Size of keys whose request states none. */
  readonly size: KeySize;
}

/** §4.1: encryptors support 16 bytes at least. */
const ALGORITHM = 'PHM, HPKE';

/** Table 7. It has no code for a failure that ends by itself: RFC 9110 §15.6.4 has. */
const REFUSALS: Refusals = {
  'not-allowed': [400, 'this system shares no such keys with that remoteSystemID'],
  'not-found': [400, 'the key was not found'],
  unavailable: [503, 'the key service cannot be reached, or no key is ready: try again'],
};

export class Skip {
  readonly #keeper: Keeper;
  readonly #size: KeySize;

  constructor({ keeper, size }: SkipOptions) {
    this.#keeper = keeper;
    this.#size = size;
  }

  /** Resolves with the answer, also to what is wrong. Rejects only for a defect. */
  answer(request: SystemRequest): Promise<Answer> {
    return answered(() => this.#serve(request), REFUSALS);
  }

  #serve({ method, target, caller }: SystemRequest): Promise<Answer> {
    const wanted = parseRequest(target);
    requireMethod(method, ['GET']);
    if (caller === null) {
      throw new RequestError(401, 'the certificate names no system: it needs one URI as its name');
    }
    return this.#answerTo(wanted, caller);
  }

  async #answerTo(wanted: SkipRequest, caller: string): Promise<Answer> {
    switch (wanted.method) {
      case 'capabilities':
        return this.#capabilities(caller);
      // The operating system's generator: the agent has no source of its own, and claims none.
      case 'entropy':
        return entropyAnswer(randomBytes(wanted.bytes));
      case 'key':
        return onlyKey(await this.#keeper.read(caller, wanted.remote, [wanted.id]));
      case 'new-key':
        return onlyKey(
          await this.#keeper.take(caller, [wanted.remote], 1, wanted.size ?? this.#size),
        );
    }
  }

  /** §4.1. */
  #capabilities(caller: string): Answer {
    return jsonAnswer({
      entropy: true,
      key: true,
      algorithm: ALGORITHM,
      localSystemID: caller,
      remoteSystemID: this.#keeper.partners(caller),
    });
  }
}

function onlyKey([key]: Awaited<ReturnType<Keeper['take']>>): Answer {
  if (key === undefined) throw new Error('the keeper gave no key');
  return keyAnswer(key);
}
