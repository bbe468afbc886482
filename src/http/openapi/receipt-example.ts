/** One receipt of a log that signed it for this document, with the policy that verifies it. */

const ORIGIN = 'phm.invalid/8f1c2a90b3d4e5f6';

export const RECEIPTED_KEY_HEX = '7c3b1f0a9e54d2886b07a1c5f3e9d4428190bb6e5a7d3c2f1e0d9c8b7a695847';

export const OPENING = 'tT3m1o0cYqJq5wzE1k8m0C2rjY0b0xw2c9m8H7Lx4p0=';

export const CHECKPOINT = `${ORIGIN}
1
XqRQ1v0yqF1c5U2m2qC2M2a4k3k0pJvQv3mW4XxvF2s=

— ${ORIGIN} AAAAAAAA
`;

export const POLICY = `log ${ORIGIN}+00000000+AAAA
quorum none
`;

export const RECEIPT = {
  statement: {
    type: 'phm-key-receipt/v1',
    service: ORIGIN,
    key_id: 'phm_2170429376983703449351416931714616409',
    time: '2026-01-31T12:00:00.000+00:00',
    security_level: 256,
    security_strength_bits: 256,
    key_commitment: 'tT3m1o0cYqJq5wzE1k8m0C2rjY0b0xw2c9m8H7Lx4p0=',
    evidence: null,
    modulation: 'phase',
    sources: [{ name: 'os', credit_bits: 256 }],
    row_digest: 'tT3m1o0cYqJq5wzE1k8m0C2rjY0b0xw2c9m8H7Lx4p0=',
    sealed_to: null,
    sealed_digest: null,
    software: 'phm-key-service/0.1.0+0123456789abcdef',
    salt: 'tT3m1o0cYqJq5wzE1k8m0C2rjY0b0xw2c9m8H7Lx4p0=',
  },
  proof: `c2sp.org/tlog-proof@v1
index 0

${CHECKPOINT}`,
};
