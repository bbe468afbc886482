/** What the reader orders, and the request for it. */
import type { GenerateRequest, GenerateSealedRequest } from '../api.ts';
import { type Ends, endFields, endsProblems, NO_ENDS } from './ends.ts';
import { readRecipient, type SealTo } from './recipient.ts';

export interface Order extends Ends {
  readonly level: GenerateRequest['security_level'];
  readonly modulation: NonNullable<GenerateRequest['modulation_type']>;
  /** Name of the source; empty for the server's default. */
  readonly source: string;
  readonly isValidated: boolean;
  readonly hasReceipt: boolean;
  readonly isSealed: boolean;
  /** The recipient of a sealed key, as the reader pasted it. */
  readonly recipient: string;
}

export const DEFAULT_ORDER: Order = {
  ...NO_ENDS,
  level: 256,
  modulation: 'phase',
  source: '',
  isValidated: false,
  hasReceipt: false,
  isSealed: false,
  recipient: '',
};

export type OrderRequest =
  | { readonly kind: 'plain'; readonly body: GenerateRequest }
  | { readonly kind: 'sealed'; readonly body: GenerateSealedRequest };

/** Stands in the example of a request until there is a recipient. */
const NO_RECIPIENT: SealTo = { recipient: '<recipient>' };

/** Returns the request for an order, without what the service does by itself. An expiry in days counts from `nowMs`. */
export function toRequest(order: Order, nowMs: number): OrderRequest {
  const { level, modulation, source, isValidated, hasReceipt, isSealed, recipient } = order;
  const include = [
    ...(isValidated ? (['nist_report'] as const) : []),
    ...(hasReceipt ? (['receipt'] as const) : []),
  ];
  const body: GenerateRequest = {
    security_level: level,
    ...(modulation !== DEFAULT_ORDER.modulation && { modulation_type: modulation }),
    ...(isValidated && { enable_nist_validation: true }),
    ...(include.length > 0 && { include }),
    ...(source !== '' && {
      entropy_source: source as NonNullable<GenerateRequest['entropy_source']>,
    }),
    ...endFields(order, nowMs),
  };
  if (!isSealed) return { kind: 'plain', body };
  const read = readRecipient(recipient);
  const seal_to = 'sealTo' in read ? read.sealTo : NO_RECIPIENT;
  return { kind: 'sealed', body: { ...body, seal_to } as GenerateSealedRequest };
}

interface OrderProblems {
  readonly labels?: string | undefined;
  readonly expiry?: string | undefined;
  readonly recipient?: string | undefined;
}

/** Returns what is wrong with an order. */
export function orderProblems(order: Order, nowMs: number): OrderProblems {
  const read = order.isSealed ? readRecipient(order.recipient) : undefined;
  return {
    ...endsProblems(order, nowMs),
    recipient: read && 'problem' in read ? read.problem : undefined,
  };
}
