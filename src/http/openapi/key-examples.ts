/** Keys in the examples of several operations. */
import { EXAMPLE_TIMESTAMP } from './operation.ts';

export const PLAIN_KEY = {
  success: true,
  key_id: 'phm_2170429376983703449351416931714616409',
  key: '628ca1957bb0e7533767739cbe80d46eb4dc4b9ced577b92d9df7fde73a0f081',
  security_level: 256,
  security_strength_bits: 256,
  entropy_bits: 254.85,
  latency_ms: 7.167,
  timestamp: EXAMPLE_TIMESTAMP,
  source: 'os',
  quantum_hardware: false,
  entropy_job_id: null,
  hash_proof:
    'proof_180101358710039235219691106797287890985005447079011828679586787048193400957481',
};

export const VALIDATED_KEY = {
  ...PLAIN_KEY,
  nist_validation: {
    certification_status: 'PASS',
    tests_passed: 15,
    total_tests: 15,
    compliance_level: 'CERTIFICATION_READY',
  },
  nist_score: 100,
  nist_grade: 'A',
};

export const SIMULATOR_KEY = {
  success: true,
  key_id: 'phm_2170337195073431729661997609353391462',
  key: '31d16ddba0d94b53913577aa4a5cd92393ce992bb2a3961b597667384cda480950f1da3e60b3f0359d801c5c169081cd',
  security_level: 384,
  security_strength_bits: 256,
  entropy_bits: 254.86,
  latency_ms: 0.417,
  timestamp: EXAMPLE_TIMESTAMP,
  source: 'quantum-simulator',
  quantum_hardware: false,
  entropy_job_id: null,
  hash_proof:
    'proof_116681149205494887086682504998722578920594466898998906137738725034814029366495',
};
