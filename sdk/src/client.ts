/** The client: one method for each endpoint. */
import { assertIdEach, keysOf, partOf, readSplit } from './batches.ts';
import {
  type Belongs,
  batchBelongs,
  keyBelongs,
  listBelongs,
  RecentKeys,
  receiptBelongs,
  recipientsOf,
  recordBelongs,
  revocationBelongs,
} from './belonging.ts';
import {
  assertCallOptions,
  type BatchCallOptions,
  type CallOptions,
  type KeyCallOptions,
  type PhmClientOptions,
} from './client-options.ts';
import { Deliveries } from './deliveries.ts';
import type { ByteStream } from './files/bytes.ts';
import { chunksOf, streamOf } from './files/bytes.ts';
import { type EncryptOptions, newFileKey } from './files/file-key.ts';
import { encryptFile, type OutputOptions, type WrittenFile } from './files/files.ts';
import { encryptChunks, type FileStream } from './files/streams.ts';
import { hide, showAs } from './hidden.ts';
import { idempotencyKeyFor } from './idempotency.ts';
import type { Limits } from './limits.ts';
import { assertNoPrivateKey, assertObject, checkCommitment, checkKeyId } from './options.ts';
import { Pages } from './pages.ts';
import { type Endpoint, Sender } from './sender.ts';
import {
  batchShape,
  keyShape,
  SHAPES,
  type Shape,
  type ShapeOf,
  sealedKeyShape,
} from './shapes.ts';
import type {
  BatchKey,
  BatchSealedKey,
  GenerateBatchRequest,
  GenerateDeliveredBatchRequest,
  GenerateDeliveredRequest,
  GeneratedKey,
  GenerateRequest,
  GenerateSealedBatchRequest,
  GenerateSealedKeysBatchRequest,
  GenerateSealedKeysRequest,
  GenerateSealedRequest,
  Health,
  KeyInfo,
  KeyInfoResult,
  KeyList,
  KeyListQuery,
  Metrics,
  MetricsQuery,
  MetricsSeries,
  PlainKey,
  PlainRequest,
  Randomness,
  RandomnessQuery,
  ReceiptedKey,
  ReceiptedRequest,
  ReceiptResult,
  ReportedKey,
  ReportedRequest,
  RevocationReason,
  SealedKeyFor,
  SeriesQuery,
  ValidatedKey,
  ValidatedRequest,
  ValidateRequest,
  ValidationResult,
} from './types.ts';

/**
 * A client of one service with one API key. Methods resolve with the service's response, and reject with a `PhmError` or
 * with the reason of the signal. Calls may run at the same time.
 */
export class PhmClient {
  readonly #sender: Sender;
  readonly #deliveries: Deliveries;
  readonly #recent = new RecentKeys();

  /** Throws `TypeError` or `RangeError` for invalid options. */
  constructor(options: PhmClientOptions) {
    this.#sender = new Sender(options);
    this.#deliveries = new Deliveries(this.#sender);
    // A copy for another thread would have no private members. With a function in it, it is a DataCloneError.
    Object.defineProperty(this, 'copy', { value: NO_COPY, enumerable: true });
    showAs(this, `PhmClient { ${this.#sender.base} }`);
  }

  /** Sealed keys that wait for registered recipients. */
  get deliveries(): Deliveries {
    return this.#deliveries;
  }

  /** Limits from the latest response; all null before the first. */
  get lastLimits(): Limits {
    return this.#sender.lastLimits;
  }

  /**
   * Generates a key. The client retries only if the service cannot have generated one. If a call fails with
   * `outcomeUnknown`, a key may have been generated and counted, but the response was lost.
   *
   * With `idempotencyKey` the client also retries after a lost response. If the service had generated the key, the call
   * rejects with `PhmKeyLostError`, which names it: that key cannot be sent again, and no other was generated.
   */
  generate(
    body: ReceiptedRequest<ReportedRequest>,
    options?: KeyCallOptions,
  ): Promise<ReceiptedKey<ReportedKey>>;
  generate(
    body: ReceiptedRequest<ValidatedRequest>,
    options?: KeyCallOptions,
  ): Promise<ReceiptedKey<ValidatedKey>>;
  generate(
    body: ReceiptedRequest<PlainRequest>,
    options?: KeyCallOptions,
  ): Promise<ReceiptedKey<PlainKey>>;
  generate(body: ReportedRequest, options?: KeyCallOptions): Promise<ReportedKey>;
  generate(body: ValidatedRequest, options?: KeyCallOptions): Promise<ValidatedKey>;
  generate(body: PlainRequest, options?: KeyCallOptions): Promise<PlainKey>;
  generate(body: GenerateRequest, options?: KeyCallOptions): Promise<GeneratedKey>;
  async generate(body: GenerateRequest, options: KeyCallOptions = {}): Promise<GeneratedKey> {
    assertObject('the body', body, '{ security_level: 256 }');
    assertCallOptions(options);
    const idempotencyKey = idempotencyKeyFor(options.idempotencyKey, false);
    const kind = { shape: keyShape(body), belongs: keyBelongs(body, null, this.#recent) };
    return this.#make({ path: '/api/v2/generate', body, ...kind, idempotencyKey }, options);
  }

  /**
   * Generates a key that only its recipient can open: `openSealedKey` opens it. `seal_to` is `sealTo(recipient)`, or the
   * name of a registered recipient, or a list of up to eight, who all get the same key. With `deliver`, the service also keeps
   * the copies: `deliveries.fetch` gets them. A repeated call gets the same response and counts once.
   */
  async generateSealed<
    const Request extends
      | GenerateSealedRequest
      | GenerateSealedKeysRequest
      | GenerateDeliveredRequest,
  >(body: Request, options: KeyCallOptions = {}): Promise<SealedKeyFor<Request>> {
    assertObject('the body', body, SEALED_EXAMPLE);
    assertCallOptions(options);
    assertNoPrivateKey(body.seal_to);
    const idempotencyKey = idempotencyKeyFor(options.idempotencyKey, true);
    const belongs = keyBelongs(body, await recipientsOf(body.seal_to), this.#recent);
    const kind = { shape: sealedKeyShape(body), belongs };
    return this.#make({ path: '/api/v2/generate/sealed', body, ...kind, idempotencyKey }, options);
  }

  /**
   * Yields `count` keys, which the client generates in batches while you read them, each with its own `Idempotency-Key`.
   * If a batch fails, the iterator rejects; the keys that it has yielded are yours. Keys of the current batch that you do
   * not read are lost. With a text as `idempotencyKey` there is one batch.
   */
  generateBatch<const Request extends GenerateBatchRequest>(
    body: Request,
    options: BatchCallOptions = {},
  ): AsyncGenerator<BatchKey<Request>, void, undefined> {
    assertObject('the body', body, '{ security_level: 256, count: 1000 }');
    return this.#batches('/api/v2/generate/batch', body, keyShape(body), options);
  }

  /** Yields `count` sealed keys, as `generateBatch` does. */
  generateSealedBatch<
    const Request extends
      | GenerateSealedBatchRequest
      | GenerateSealedKeysBatchRequest
      | GenerateDeliveredBatchRequest,
  >(
    body: Request,
    options: BatchCallOptions = {},
  ): AsyncGenerator<BatchSealedKey<Request>, void, undefined> {
    assertObject('the body', body, SEALED_EXAMPLE);
    assertNoPrivateKey(body.seal_to);
    assertIdEach(body);
    const path = '/api/v2/generate/sealed/batch';
    return this.#batches(path, body, sealedKeyShape(body), options);
  }

  /**
   * Encrypts a file under a new key of its own, which is sealed to `to` and stored in the file: `decryptFile` opens it without
   * the service. The output is `<path>.phm` or `out`. The file does not leave this machine. Needs Node.
   */
  async encryptFile(path: string, options: EncryptOptions & OutputOptions): Promise<WrittenFile> {
    assertCallOptions(options);
    return encryptFile(this, path, options);
  }

  /** Encrypts a stream as `encryptFile` does, in Node and in browsers. `decryptStream` opens it. */
  async encryptStream(source: ByteStream, options: EncryptOptions): Promise<FileStream> {
    assertCallOptions(options);
    const chunks = chunksOf(source);
    const fileKey = await newFileKey(this, options);
    return { header: fileKey.header, stream: streamOf(encryptChunks(chunks, fileKey)) };
  }

  /** Validates a key. Every verdict counts against the quota; a lost one may count too. */
  async validate(body: ValidateRequest, options: CallOptions = {}): Promise<ValidationResult> {
    assertObject('the body', body, '{ key }');
    const path = '/api/v2/validate';
    const shape = SHAPES.validate;
    return this.#sender.send({ method: 'POST', path, body, shape, repeatable: 'read' }, options);
  }

  /**
   * Yields the records of the account's keys, newest first, reading page after page while you read them. A record never holds
   * the key. `label` takes `name:value`, one or several.
   */
  async *listKeys(
    query: KeyListQuery = {},
    options: CallOptions = {},
  ): AsyncGenerator<KeyInfo, void, undefined> {
    const pages = new Pages(query.cursor);
    let page: KeyList | undefined;
    do {
      const cursor = page?.next_cursor;
      page = await this.#page(cursor ? { ...query, cursor } : query, options, pages);
      yield* page.keys;
    } while (page.next_cursor !== null);
  }

  /** Returns one page of the records: `next_cursor` is the `cursor` of the next one, and null at the end. */
  async keyPage(query: KeyListQuery = {}, options: CallOptions = {}): Promise<KeyList> {
    return this.#page(query, options, new Pages(query.cursor));
  }

  /** Returns the record of a key of the account. */
  async getKey(keyId: string, options: CallOptions = {}): Promise<KeyInfoResult> {
    const kind = { shape: SHAPES.key, belongs: recordBelongs(keyId) };
    return this.#read(`/api/v2/keys/${checkKeyId(keyId)}`, {}, kind, options);
  }

  /**
   * Revokes a key of the account. `key_compromise` makes it compromised; every other reason makes an active key deactivated.
   * A repeated call changes nothing, so the client retries.
   */
  async revokeKey(
    keyId: string,
    reason: RevocationReason,
    options: CallOptions = {},
  ): Promise<KeyInfoResult> {
    const path = `/api/v2/keys/${checkKeyId(keyId)}/revoke`;
    const belongs = revocationBelongs(keyId, reason);
    const kind = { shape: SHAPES.key, belongs, repeatable: 'read' as const };
    return this.#sender.send({ method: 'POST', path, body: { reason }, ...kind }, options);
  }

  /**
   * Returns the receipt for a key of the account, by the `key_id` of `generate`. Until a checkpoint covers the record of a
   * new key, the service refuses with `receipt_pending`, and the client retries.
   */
  async receipt(keyId: string, options: CallOptions = {}): Promise<ReceiptResult> {
    const path = `/api/v2/keys/${checkKeyId(keyId)}/receipt`;
    return this.#read(path, {}, { shape: SHAPES.receipt, belongs: receiptBelongs(keyId) }, options);
  }

  /**
   * Returns the receipt for a key by `key_id` and `key_commitment` of the header of its sealed key. The recipient needs no API
   * key for it, and none is sent. The service refuses with `receipt_pending` as in `receipt`, and the client retries.
   */
  async receiptByCommitment(
    keyId: string,
    keyCommitment: string,
    options: CallOptions = {},
  ): Promise<ReceiptResult> {
    const body = { key_id: checkKeyId(keyId), key_commitment: checkCommitment(keyCommitment) };
    const kind = {
      shape: SHAPES.receipt,
      belongs: receiptBelongs(keyId, keyCommitment),
      repeatable: 'read' as const,
      open: true,
    };
    return this.#sender.send({ method: 'POST', path: '/api/v2/receipts', body, ...kind }, options);
  }

  /** Returns sums of the account over the last `hours` hours. */
  async metrics(query: MetricsQuery = {}, options: CallOptions = {}): Promise<Metrics> {
    return this.#read('/api/v2/metrics', query, { shape: SHAPES.metrics }, options);
  }

  /** Returns the same sums per time step, including steps without requests. */
  async metricsSeries(query: SeriesQuery = {}, options: CallOptions = {}): Promise<MetricsSeries> {
    return this.#read('/api/v2/metrics/series', query, { shape: SHAPES.series }, options);
  }

  /** Returns the p-values of the account's last validated keys, judged together. */
  async randomness(query: RandomnessQuery = {}, options: CallOptions = {}): Promise<Randomness> {
    return this.#read('/api/v2/metrics/randomness', query, { shape: SHAPES.randomness }, options);
  }

  /** Returns the state of the server. A server that is not ready returns `success` false; that is not an error. */
  async health(options: CallOptions = {}): Promise<Health> {
    const kind = {
      shape: { status: 'string', timestamp: 'time' } satisfies ShapeOf<Health>,
      repeatable: 'read' as const,
      alsoAnswers: 503,
      open: true,
    };
    return this.#sender.send({ method: 'GET', path: '/health', ...kind }, options);
  }

  #page(query: KeyListQuery, options: CallOptions, pages: Pages): Promise<KeyList> {
    const belongs: Belongs = (answer, headers) =>
      listBelongs(query)(answer, headers) ?? pages.mismatch(answer as unknown as KeyList);
    return this.#read('/api/v2/keys', query, { shape: SHAPES.keys, belongs }, options);
  }

  #read<Answer>(
    path: string,
    query: object,
    kind: Pick<Endpoint, 'shape' | 'belongs'>,
    options: CallOptions,
  ): Promise<Answer> {
    assertObject('the query', query, '{ hours: 24 }');
    return this.#sender.send({ method: 'GET', path, query, ...kind, repeatable: 'read' }, options);
  }

  #batches<Key>(
    path: string,
    body:
      | GenerateBatchRequest
      | GenerateSealedBatchRequest
      | GenerateSealedKeysBatchRequest
      | GenerateDeliveredBatchRequest,
    keyShape: Shape,
    options: BatchCallOptions,
  ): AsyncGenerator<Key, void, undefined> {
    assertCallOptions(options);
    const { idempotencyKey: given, chunk } = options;
    idempotencyKeyFor(given, true);
    const split = readSplit(body.count, chunk, typeof given === 'string');
    return keysOf(split, async (count, from) => {
      const part = partOf(body, from, count);
      const to = 'seal_to' in body ? await recipientsOf(body.seal_to) : null;
      return this.#make(
        {
          path,
          body: part,
          shape: batchShape(count, keyShape),
          belongs: batchBelongs(part, to, this.#recent),
          idempotencyKey: idempotencyKeyFor(given, true),
          places: count,
        },
        options,
      );
    });
  }

  /** Sends a call that generates keys. */
  async #make<Answer extends object>(
    endpoint: Omit<Endpoint, 'method' | 'repeatable'>,
    options: KeyCallOptions,
  ): Promise<Answer> {
    const repeatable = endpoint.idempotencyKey === undefined ? 'never' : 'recognised';
    const answer = await this.#sender.send<Answer>(
      { ...endpoint, method: 'POST', repeatable },
      options,
    );
    const made = 'keys' in answer ? (answer.keys as object[]) : [answer];
    for (const one of made as { key?: string; opening?: string }[]) hide(one, 'key', 'opening');
    return answer;
  }
}

/** Its text is in the error for a copy. */
const NO_COPY = (): string => 'a PhmClient belongs to one thread: make one in each';

const SEALED_EXAMPLE = '{ security_level: 256, seal_to: sealTo(recipient) }';
