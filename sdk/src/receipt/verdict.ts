/** The result of a verification, in words. */
import type { KeyStatement } from './tlog.ts';

/** All texts are whole sentences in English. */
export interface ReceiptVerdict {
  /** True if every check that was asked for passed, under a policy. */
  readonly valid: boolean;
  /** What is wrong; empty if and only if `valid` is true. */
  readonly problems: readonly string[];
  /** What the receipt shows. Read it together with `problems`. */
  readonly shown: readonly string[];
  /** What the receipt does not show. Never empty: no receipt shows that a key is random. */
  readonly notShown: readonly string[];
  /** What the service stated about the key. Trust it only if `valid` is true. */
  readonly statement: KeyStatement;
  /** Index of the statement's entry in the log, from 0. */
  readonly entryIndex: number;
  /** Number of entries under the checkpoint. */
  readonly treeSize: number;
  /** Time of the log's signature in ISO 8601, in whole seconds; null if it states none, as Ed25519 signatures do. */
  readonly signedAt: string | null;
  /** Names that the policy gives to the witnesses whose cosignatures are right. */
  readonly witnesses: readonly string[];
}

/** Collects sentences while a receipt is checked. */
export class Findings {
  readonly problems: string[] = [];
  readonly shown: string[] = [];
  readonly notShown: string[] = [];
}

/** Formats seconds since the epoch in ISO 8601, such as 2026-11-23T01:19:17Z. */
export function instant(seconds: number): string {
  const date = new Date(seconds * 1000);
  // A signature may state any number of seconds; a Date ends in the year 275760.
  if (Number.isNaN(date.getTime())) return `${seconds} seconds after 1970`;
  return date.toISOString().replace('.000Z', 'Z');
}

/** Formats a count with its noun: "1 entry", "2 entries". */
export function count(value: number, one: string, many: string): string {
  return `${value} ${value === 1 ? one : many}`;
}

/** Joins names: "a", "a and b", "a, b and c". */
export function list(names: readonly string[]): string {
  if (names.length < 2) return names.join('');
  return `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`;
}
