/** A text as editors and systems save it: forms that every reader accepts, and encodings that every reader names. */

const utf16 = (text: string): Buffer => Buffer.from(text, 'utf16le');

/** The same text to every reader. */
export const SAME_TEXT: Readonly<Record<string, (text: string) => Buffer>> = {
  'as it is': (text) => Buffer.from(text),
  'a byte order mark': (text) => Buffer.from(`\ufeff${text}`),
  'two byte order marks': (text) => Buffer.from(`\ufeff\ufeff${text}`),
  CRLF: (text) => Buffer.from(text.replaceAll('\n', '\r\n')),
  'a byte order mark and CRLF': (text) => Buffer.from(`\ufeff${text.replaceAll('\n', '\r\n')}`),
  CR: (text) => Buffer.from(text.replaceAll('\n', '\r')),
  'empty lines at the end': (text) => Buffer.from(`${text}\r\n\r\n`),
};

/** No text to any reader; the words name the encoding. */
export const OTHER_ENCODINGS: readonly (readonly [
  name: string,
  bytes: (text: string) => Buffer,
  words: RegExp,
])[] = [
  ['UTF-16, little-endian', (text) => utf16(`\ufeff${text}`), /UTF-16/],
  ['UTF-16, big-endian', (text) => utf16(`\ufeff${text}`).swap16(), /UTF-16/],
  ['UTF-16 without a mark', (text) => utf16(text), /UTF-16/],
  ['UTF-16 without a mark, big-endian', (text) => utf16(text).swap16(), /UTF-16/],
  [
    'UTF-32',
    (text) => Buffer.from(Uint32Array.from(`\ufeff${text}`, (c) => c.charCodeAt(0)).buffer),
    /UTF-32/,
  ],
  [
    'Latin-1',
    (text) => Buffer.concat([Buffer.from('# caf\xe9\n', 'latin1'), Buffer.from(text)]),
    /not UTF-8/,
  ],
  ['zero bytes', (text) => Buffer.from(`${text}\0`), /zero bytes/],
];
