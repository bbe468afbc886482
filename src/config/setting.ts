/** What the table of environment variables says about each. */
import type { ValueKind } from '#platform/terminal';

/** A variable: its default, and its line in the help. */
export interface Row {
  readonly default: string;
  readonly help: string;
  /** What the value is; `text` if left out. */
  readonly kind?: ValueKind;
}

/** The tables of `docs/configuration.md`, in its order. */
export const SECTIONS = [
  'data',
  'master secret',
  'transparency log',
  'network',
  'callers and load',
  'metrics and logs',
  'entropy sources',
] as const;

/** A variable of the server. `Reader` enforces `bounds` and `choices`. */
export interface Setting extends Row {
  readonly section: (typeof SECTIONS)[number];
  /** Smallest and largest whole number. */
  readonly bounds?: readonly [number, number];
  /** Smallest and largest decimal fraction. */
  readonly range?: readonly [number, number];
  readonly choices?: readonly string[];
  /** Any other value, in Markdown. */
  readonly value?: string;
  /** What an empty default stands for, in Markdown; `unset` if left out. */
  readonly unset?: string;
  /** What the variable does, in Markdown. */
  readonly meaning: string;
}

export const SWITCH = ['on', 'off'] as const;
