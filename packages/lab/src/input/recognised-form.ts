/** What an input looks like whose bits are held in another form, and how they are given. */

import type { ListingName } from './forms/listings.ts';
import type { TextFormat } from './text-bits.ts';

export type TextName =
  | TextFormat
  | 'decimal'
  | 'octal'
  | 'text'
  | 'utf-16'
  | 'utf-32'
  | ListingName;

/** Formats of `assess`, what a reader must convert before, words that hold a bit each, and containers, such as `xz`. */
export type FormatGuess = TextName | 'bit_words' | 'samples' | 'gzip' | (string & {});

/** How the bits are given instead. */
export type Remedy =
  /** With this format. */
  | { readonly kind: 'format'; readonly format: string }
  /** With this format, which takes these bits of each sample. */
  | { readonly kind: 'bits'; readonly format: string; readonly low: number; readonly high: number }
  /** By a command that writes them to standard output. `FILE` stands for the name of the input. */
  | { readonly kind: 'command'; readonly command: string }
  | { readonly kind: 'advice'; readonly advice: string };

export interface RecognisedForm {
  readonly name: FormatGuess;
  /** Follows the name of the input in a sentence, such as `looks like gzip`. */
  readonly says: string;
  readonly remedy: Remedy;
  /** The bytes of a word that holds one bit or one sample; else null. */
  readonly wordBytes: number | null;
}
