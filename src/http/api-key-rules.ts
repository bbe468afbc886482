/** Judges the rules of an API key: its expiry, its address ranges and its scopes. Limits are judged by their counters. */
import { BlockList, isIPv4 } from 'node:net';
import { formatTimestamp } from '../clock.ts';
import { type Plan, parseAddressRange } from '../config/index.ts';
import { AppError } from '../errors.ts';
import type { ApiKeyRules, Principal, Scope } from '../ledger/index.ts';

/** Ranges by the rules they belong to. A look-up brings new rules each second, so few are kept for long. */
const ranges = new WeakMap<ApiKeyRules, BlockList>();

/** Reports whether the API key has expired, by the server's clock. */
function isExpired({ expiresMs }: ApiKeyRules, nowMs: number): boolean {
  return expiresMs !== null && expiresMs <= nowMs;
}

/** Reports whether neither the state of the account nor the expiry of the API key refuses its requests. */
export function isUsable({ suspended, rules }: Principal, nowMs: number): boolean {
  return !suspended && (rules === null || !isExpired(rules, nowMs));
}

/** Throws `invalid_api_key`. Only the holder of the API key learns when it expired. */
export function refuseExpired(rules: ApiKeyRules, nowMs: number): void {
  if (!isExpired(rules, nowMs)) return;
  throw new AppError('invalid_api_key', {
    detail: `This API key expired at ${formatTimestamp(rules.expiresMs ?? 0)}.`,
    remedy: 'Use the API key that replaces it, or ask the operator to issue a new one.',
  });
}

/** Throws `address_not_allowed`. Without an address the connection has closed, and the answer goes nowhere. */
export function refuseAddress(rules: ApiKeyRules, address: string | undefined): void {
  if (rules.addressRanges === null) return;
  if (address !== undefined && isWithin(rules, rules.addressRanges, address)) return;
  const from = address === undefined ? 'an unknown address' : address;
  throw new AppError('address_not_allowed', {
    detail: `This API key cannot be used from ${from}.`,
  });
}

function isWithin(rules: ApiKeyRules, texts: readonly string[], address: string): boolean {
  let list = ranges.get(rules);
  if (!list) {
    list = new BlockList();
    for (const text of texts) {
      const range = parseAddressRange(text);
      // An unreadable range admits no address.
      if (range) list.addSubnet(range.address, range.prefix, range.family);
    }
    ranges.set(rules, list);
  }
  return list.check(address, isIPv4(address) ? 'ipv4' : 'ipv6');
}

/** Throws `insufficient_scope`, which names the scopes, unless the API key has one of them. */
export function refuseScope({ scopes }: ApiKeyRules, needed: readonly Scope[]): void {
  if (scopes === null || needed.some((one) => scopes.includes(one))) return;
  const names = needed.map((one) => `the scope "${one}"`).join(' or ');
  throw new AppError('insufficient_scope', { detail: `This API key lacks ${names}.` });
}

/** Throws `insufficient_scope` if the API key may receive for other recipients only, whether the account has this one or not. */
export function refuseRecipient({ rules }: Principal, name: string): void {
  const recipients = rules?.recipients ?? null;
  if (recipients === null || recipients.includes(name)) return;
  throw new AppError('insufficient_scope', {
    detail: 'This API key cannot be used for this recipient.',
    remedy:
      'Name a recipient that the API key is for. The operator issues others with "phm api-key issue --scope receive --recipient".',
  });
}

/** Returns the limits of a plan, or those of the API key where they are lower. */
export function limitsWithin(plan: Plan, { ratePerSecond, burst }: ApiKeyRules): Plan {
  return {
    ...plan,
    ratePerSecond: Math.min(plan.ratePerSecond, ratePerSecond ?? plan.ratePerSecond),
    burst: Math.min(plan.burst, burst ?? plan.burst),
  };
}
