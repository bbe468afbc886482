/** A client certificate names one system, or none. */
import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { describe, it } from 'node:test';
import { alternativeName, selfSigned } from '../../../../test/support/servers/certificate.ts';
import { callerOf } from '../../src/listeners/caller.ts';

const { dns, uri } = alternativeName;

const named = (commonNames: readonly string[], names: readonly Uint8Array[]): string | null =>
  callerOf(new X509Certificate(selfSigned(commonNames, names).certificate));

describe('the name in a certificate', () => {
  it('is its only URI, whatever else it has', () => {
    assert.equal(named(['cn'], [uri('urn:sae:a')]), 'urn:sae:a');
    assert.equal(named(['cn'], [dns('a.example'), uri('sae-a'), dns('b.example')]), 'sae-a');
    assert.equal(named([], [uri('sae-a')]), 'sae-a');
  });

  it('is read with characters that separate names', () => {
    for (const text of [
      'sae:a, URI:sae:b',
      'sae "a"',
      'a\\b',
      'a=b+c, DNS:d',
      "it's",
      'https://a/b?c=d,e',
    ]) {
      assert.equal(named(['cn'], [uri(text)]), text);
    }
    assert.equal(named(['cn'], [dns('a, URI:forged')]), null);
    assert.equal(named(['cn'], [dns('a", URI:forged, DNS:"b')]), null);
  });

  it('is none with two URIs, or with alternative names but no URI', () => {
    assert.equal(named(['cn'], [uri('a'), uri('b')]), null);
    assert.equal(named(['cn'], [uri('a'), uri('a')]), null);
    assert.equal(named(['cn'], [uri('')]), null);
    assert.equal(named(['cn'], [dns('cn')]), null);
  });

  it('is the only common name if there are no alternative names', () => {
    assert.equal(named(['sae-a'], []), 'sae-a');
    assert.equal(named(['sae, CN=other'], []), 'sae, CN=other');
    assert.equal(named(['a', 'b'], []), null);
    assert.equal(named([], []), null);
  });
});
