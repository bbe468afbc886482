-- What gate_p, tests_passed, total_tests and p_values describe. 1: the suite on the modulated sample (188
-- p-values). 2: the suite on the carrier, and four tests on the modulated sample (192). In `ledger` it is NULL
-- for plain keys, and for keys of programs that do not know the column: theirs is 1.
ALTER TABLE ledger ADD COLUMN evidence_definition INTEGER;
ALTER TABLE validated_keys ADD COLUMN evidence_definition INTEGER NOT NULL DEFAULT 1;
