/** Who calls: the name in a client certificate that a pinned authority has signed. */
import type { X509Certificate } from 'node:crypto';

/**
 * Returns the only URI of the certificate's alternative names (RFC 5280 §4.2.1.6); without alternative names the only common
 * name of its subject. Null for everything else: with two names, a system could choose who it is.
 */
export function callerOf(certificate: X509Certificate): string | null {
  const { subjectAltName } = certificate;
  if (subjectAltName !== undefined) return onlyOne(urisOf(subjectAltName));
  const name: unknown = certificate.toLegacyObject().subject?.CN;
  return onlyOne([name ?? []].flat().filter((one) => typeof one === 'string'));
}

/** One name as Node writes it: a type, and a value that is JSON if it holds what separates names. */
const NAME = /([A-Za-z][A-Za-z ]*):("(?:[^"\\]|\\.)*"|[^,"]*)(?:, |$)/gy;

/** Returns nothing if the list is not of this form. */
function urisOf(list: string): string[] {
  const names = [...list.matchAll(NAME)];
  if (names.map(([whole]) => whole).join('') !== list) return [];
  return names
    .filter(([, type]) => type === 'URI')
    .map(([, , value = '']) => (value.startsWith('"') ? (JSON.parse(value) as string) : value));
}

function onlyOne(names: readonly string[]): string | null {
  const [name = '', ...others] = names;
  return name === '' || others.length > 0 ? null : name;
}
