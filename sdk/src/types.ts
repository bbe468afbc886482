/** Named types of the service's bodies, from its OpenAPI document. */
import type { components, operations } from './schema.ts';

type Schemas = components['schemas'];

type Query<O extends keyof operations> = operations[O] extends { parameters: { query?: infer Q } }
  ? NonNullable<Q>
  : never;

/** Stable codes of the service's errors. */
export type ErrorCode = Schemas['ErrorCode'];

/** An unknown field of the request that the service ignored, with `strict: false`. */
export type Warning = Schemas['Warning'];

type Includable = NonNullable<Schemas['GenerateRequest']['include']>[number];

/** Fields of every request for a key. */
type Order = Omit<Schemas['GenerateRequest'], 'enable_nist_validation' | 'include'>;

/** Any request for a key, including one whose validation is known only at run time. */
export interface GenerateRequest extends Order {
  readonly enable_nist_validation?: boolean | null;
  readonly include?: readonly Includable[] | null;
}

/** A request without validation. */
export interface PlainRequest extends Order {
  readonly enable_nist_validation?: false | null;
  readonly include?: readonly Exclude<Includable, 'nist_report'>[] | null;
}

/** A request with validation. */
export interface ValidatedRequest extends Order {
  readonly enable_nist_validation: true;
  readonly include?: readonly Includable[] | null;
}

/** Lists with this value among the first three. */
type Naming<Value extends Includable> =
  | readonly [Value, ...Includable[]]
  | readonly [Includable, Value, ...Includable[]]
  | readonly [Includable, Includable, Value, ...Includable[]];

/** A request with validation and its report. */
export interface ReportedRequest extends Order {
  readonly enable_nist_validation: true;
  readonly include: Naming<'nist_report'>;
}

/** A request with a receipt. */
export type ReceiptedRequest<Request extends GenerateRequest = GenerateRequest> = Request & {
  readonly include: Naming<'receipt'>;
};

/** A generated key, validated or not. */
export type GeneratedKey = Schemas['GeneratedKey'];

type Verdict = 'nist_validation' | 'nist_score' | 'nist_grade';

type ReceiptMember = 'receipt' | 'receipt_url' | 'opening';

/** A key that was generated without validation. */
export type PlainKey = Omit<GeneratedKey, Verdict | 'nist_report' | ReceiptMember>;

/** A key that was generated with `enable_nist_validation: true`. */
export type ValidatedKey = GeneratedKey & Required<Pick<GeneratedKey, Verdict>>;

/** A validated key with `include: ['nist_report']`. */
export type ReportedKey = ValidatedKey & Required<Pick<GeneratedKey, 'nist_report'>>;

/** A key with `include: ['receipt']`. `receipt` is null if it took too long: `client.receipt` returns it later. */
export type ReceiptedKey<Key extends PlainKey = GeneratedKey> = Key &
  Required<Pick<GeneratedKey, ReceiptMember>>;

type SealedOrder = Schemas['GenerateSealedRequest'];

/** The recipient of a sealed key: a public key, as `sealTo` returns it, or the name of a registered recipient. */
export type SealTo = Exclude<NonNullable<SealedOrder['seal_to']>, readonly unknown[]>;

interface AnySealedOrder extends Order {
  readonly enable_nist_validation?: boolean | null;
  readonly include?: readonly Exclude<Includable, 'hash_proof'>[] | null;
}

/** A request for a sealed key. */
export interface GenerateSealedRequest extends AnySealedOrder {
  readonly seal_to: SealTo;
}

/** A request for a key that is sealed to several recipients: one to eight, of whom one alone gets a key as without a list. */
export interface GenerateSealedKeysRequest extends AnySealedOrder {
  readonly seal_to: readonly SealTo[];
}

/** A request for a key whose sealed copies the service keeps for its recipients, which are registered, one to eight. */
export interface GenerateDeliveredRequest extends AnySealedOrder {
  readonly seal_to: SealTo | readonly SealTo[];
  readonly deliver: NonNullable<SealedOrder['deliver']>;
}

interface Count {
  /** Number of keys. The client splits it into batches. */
  readonly count: number;
}

/** A request for many keys. */
export interface GenerateBatchRequest extends GenerateRequest, Count {}

/** A request for many sealed keys. */
export interface GenerateSealedBatchRequest extends GenerateSealedRequest, Count {}

/** A request for many keys that are sealed to several recipients. */
export interface GenerateSealedKeysBatchRequest extends GenerateSealedKeysRequest, Count {}

/** A request for many keys whose sealed copies the service keeps: `deliver.ids` has an ID for each of them. */
export interface GenerateDeliveredBatchRequest extends AnySealedOrder, Count {
  readonly seal_to: SealTo | readonly SealTo[];
  readonly deliver: Omit<GenerateDeliveredRequest['deliver'], 'id'> & {
    readonly ids: readonly string[];
  };
}

type AnySealedKey = Schemas['GeneratedSealedKey'];

type SealedMember = 'sealed_key' | 'sealed_keys' | 'delivery';

/** A key that only its recipient can open. */
export type GeneratedSealedKey = Omit<AnySealedKey, SealedMember> &
  Required<Pick<AnySealedKey, 'sealed_key'>>;

/** A key that each of several recipients can open: `sealed_keys` has one for each, in the order of the request. */
export type GeneratedSealedKeys = Omit<AnySealedKey, SealedMember> &
  Required<Pick<AnySealedKey, 'sealed_keys'>>;

/** A key of which the service keeps a sealed copy for each recipient: they are in `sealed_keys`, too, even for one alone. */
export type DeliveredKey = Omit<AnySealedKey, SealedMember> &
  Required<Pick<AnySealedKey, 'sealed_keys' | 'delivery'>>;

/** What comes for the recipients of a request. */
type SealedFor<Request> = Request extends { readonly deliver: object }
  ? DeliveredKey
  : Request extends { readonly seal_to: readonly [unknown, unknown, ...unknown[]] }
    ? GeneratedSealedKeys
    : Request extends { readonly seal_to: readonly unknown[] }
      ? AnySealedKey
      : GeneratedSealedKey;

type Added = Verdict | 'nist_report' | ReceiptMember;

type IfIncluded<Request, Value extends Includable, Members> = Request extends {
  readonly include: Naming<Value>;
}
  ? Members
  : unknown;

/** `Key` with the members that the request adds, and without those that it does not. */
type KeyFor<Key, Request> = Omit<Key, Added | 'success' | 'warnings'> &
  (Request extends { readonly enable_nist_validation: true }
    ? Required<Pick<GeneratedKey, Verdict>>
    : unknown) &
  IfIncluded<Request, 'nist_report', Required<Pick<GeneratedKey, 'nist_report'>>> &
  IfIncluded<Request, 'receipt', Required<Pick<Key, Extract<ReceiptMember, keyof Key>>>>;

/** A key of a batch: the response of `generate` without `success` and `warnings`. */
export type BatchKey<Request = GenerateBatchRequest> = KeyFor<GeneratedKey, Request>;

/** A sealed key of a batch. */
export type BatchSealedKey<Request = GenerateSealedBatchRequest> = KeyFor<
  SealedFor<Request>,
  Request
>;

/** The response of `generateSealed` to a request. */
export type SealedKeyFor<Request> = BatchSealedKey<Request> &
  Pick<AnySealedKey, 'success' | 'warnings'>;

/** The receipt for a key. */
export type ReceiptResult = Schemas['ReceiptResult'];

/** What the service knows about a key: never the key. */
export type KeyInfo = Schemas['KeyInfo'];
export type KeyInfoResult = Schemas['KeyInfoResult'];
export type KeyListQuery = Query<'listKeys'>;
/** A page of key records. */
export type KeyList = Schemas['KeyList'];
export type RevocationReason = Schemas['RevocationReason'];

/** Sealed keys that wait for a recipient. */
export type DeliveryListQuery = Query<'listDeliveries'>;
export type DeliveryList = Schemas['DeliveryList'];
export type FetchResult = Schemas['FetchResult'];
export type RemoveResult = Schemas['RemoveResult'];
/** The states of a delivery at its recipients. */
export type DeliveryResult = Schemas['DeliveryResult'];

/** The full report of the suite. */
export type NistReport = Schemas['NistReport'];

export type ValidateRequest = Schemas['ValidateRequest'];
export type ValidationResult = Schemas['ValidationResult'];

export type MetricsQuery = Query<'metrics'>;
export type Metrics = Schemas['Metrics'];

export type SeriesQuery = Query<'metricsSeries'>;
export type MetricsSeries = Schemas['MetricsSeries'];

export type RandomnessQuery = Query<'randomness'>;
export type Randomness = Schemas['Randomness'];

export type Health = Schemas['Health'];
