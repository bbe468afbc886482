/** The TLS profiles: the table of `docs/configuration.md`. */
import { profileOf, TLS_PROFILE_NAMES } from '../../../src/config/tls-profiles.ts';
import { type Part, partOfPage, tableText } from './part.ts';

const HEAD = ['Profile', 'Groups', 'Cipher suites', 'Signatures', 'Key of the certificate'];

const codes = (words: readonly string[]) => words.map((word) => `\`${word}\``).join(', ');

export function tlsParts(): Part[] {
  const rows = TLS_PROFILE_NAMES.map((name) => {
    const { groups, suites, signatures, certificate } = profileOf(name);
    return [
      codes([name]),
      groups.map(codes).join(' / '),
      codes(suites),
      codes(signatures),
      certificate,
    ];
  });
  return [partOfPage('docs/configuration.md', 'tls profiles', tableText(HEAD, rows))];
}
