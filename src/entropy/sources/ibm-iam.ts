/**
 * The bearer token of IBM Cloud, exchanged for an API key at Identity and Access Management.
 *
 * IBM Cloud API Docs, "IAM Identity Services", Create an IAM access token using an API key:
 * https://cloud.ibm.com/apidocs/iam-identity-token-api
 */
import Type from 'typebox';
import { Check } from 'typebox/value';
import { monotonicMs } from '../../clock.ts';
import {
  isHeaderValue,
  RequestFailure,
  requestJson,
  type Service,
  unknownForm,
} from './_json-request.ts';

const GRANT_TYPE = 'urn:ibm:params:oauth:grant-type:apikey';

/** Part of a token's lifetime after which it is replaced, so that it does not expire in transit. */
const USED_LIFE = 0.8;

const SERVICE: Service = {
  name: 'IBM Cloud IAM',
  credentials: 'PHM_IBM_API_KEY or PHM_IBM_API_KEY_FILE',
  address: 'PHM_IBM_IAM_URL',
};

const TokenAnswer = Type.Object({
  access_token: Type.String(),
  /**
   * Seconds from now. `expiration` follows the server's clock, which may differ from this
   * machine's.
   */
  expires_in: Type.Integer({ minimum: 0, maximum: 86_400 }),
});

interface IamSettings {
  readonly apiKey: string;
  /** Checked by `serviceUrl`. */
  readonly iamUrl: string;
  readonly timeoutMs: number;
}

export class IamToken {
  readonly #settings: IamSettings;
  #token: { readonly value: string; readonly renewAtMs: number } | null = null;

  constructor(settings: IamSettings) {
    this.#settings = settings;
  }

  /** Returns a token that stays valid for some time. Rejects with `RequestFailure`. */
  async get(signal: AbortSignal): Promise<string> {
    if (this.#token === null || monotonicMs() >= this.#token.renewAtMs) {
      this.#token = await this.#exchange(signal);
    }
    return this.#token.value;
  }

  /** Discards the token after the service refused it. */
  discard(): void {
    this.#token = null;
  }

  async #exchange(signal: AbortSignal): Promise<{ value: string; renewAtMs: number }> {
    const { apiKey, iamUrl, timeoutMs } = this.#settings;
    const askedAtMs = monotonicMs();
    const answer = await requestJson({
      service: SERVICE,
      url: iamUrl,
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: new URLSearchParams({ grant_type: GRANT_TYPE, apikey: apiKey }).toString(),
      timeoutMs,
      signal,
    }).catch(explainUnknownKey);
    if (!Check(TokenAnswer, answer) || !isHeaderValue(answer.access_token)) {
      throw unknownForm(SERVICE, 'the request for a token');
    }
    const renewAtMs = askedAtMs + answer.expires_in * 1000 * USED_LIFE;
    return { value: answer.access_token, renewAtMs };
  }
}

/** IAM answers 400, not 401, to an unknown API key (BXNIM0415E). */
function explainUnknownKey(error: unknown): never {
  if (!(error instanceof RequestFailure) || error.status !== 400) throw error;
  const { name, credentials } = SERVICE;
  throw new RequestFailure(`${name} refused the API key (400): check ${credentials}`, error.status);
}
