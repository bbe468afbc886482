// Generated from the service's OpenAPI document by sdk/scripts/schema.ts: do not edit.
// "npm run schema --workspace sdk" writes it again.

export interface paths {
    "/api/v2/generate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Generate a key
         * @description One key, cut from a stream of its own after a reseed from the operating system.
         *
         *     - `enable_nist_validation`: the 15 tests judge the first 2^20 bits of the generator's output, before modulation. Four quick tests
         *       judge the same bits after modulation; they look for defects of the modulation and say nothing of the generator. The key is cut
         *       from later bits, and only if the gate over the tests of both passes.
         *     - Read `tests_passed` of `total_tests` first. `total_tests` is 13 when the two random excursions tests do not apply to
         *       the sample, as to more than one in three sound ones. One test falls below 0.01 by chance in about one sound sample in eight: the key is
         *       no worse. `"include": ["nist_report"]` adds the gate's p-value, every p-value, and the stream that each is about.
         *     - `certification_status`, `compliance_level`, `nist_score` and `nist_grade` are labels of this service that its interface
         *       requires. They restate these results and come together, with `enable_nist_validation`. NIST certifies nothing by SP 800-22.
         *     - `entropy_bits` is what the sources are credited with, scaled by a screen for defects; a 384-bit key is credited no more
         *       than 256 bits by the operating system alone. 254.8 of 256 is the confidence bound of that screen and no loss of entropy. Compare
         *       `security_strength_bits` in a policy.
         *     - `quantum_hardware` is the word of the provider of `source`: its output is in the reseed of this key, and this service cannot see what made it.
         *       By default it is credited 0 bits.
         *     - `latency_ms` runs from acceptance to key and proof ready, with queues and without the network.
         *     - `security_strength_bits` is `security_level`, or the strength of the generator, 256 bits, if that is less.
         *     - The answer has the same fields whatever the source. The quantum simulator is credited no entropy.
         */
        post: operations["generate"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v2/validate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Validate a key
         * @description Whether this service made a key, and whether it looks like one.
         *
         *     - `proof_verification` asks the ledger, or with a `hash_proof` the proof alone. A good key from elsewhere fails it.
         *     - A version of the service's master secret may be retired, after it leaked. A proof under that version no longer decides
         *       alone: `retired_secret` says what the ledger has of the key. Without a record from before the leak the proof is
         *       `unconfirmed`: the key may be forged, or its record may be gone.
         *     - `entropy_check` is six exact tests that an honest key fails with a probability below 2^-50. It finds constant or
         *       repeating keys and says nothing about how a key was made.
         *     - A malformed key is a verdict, 200 with `valid: false`, not an error.
         */
        post: operations["validate"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v2/metrics": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Performance and usage of the caller's account
         * @description Sums over the last `hours`; the period starts on a whole minute.
         *
         *     - `average_latency_ms` is the mean of the keys' `latency_ms`.
         *     - `nist_compliance_rate` is the share of judged streams that passed the gate; 1 without any.
         *     - `error_rate` is generate calls answered 5xx over those answered 2xx or 5xx. 4xx do not count.
         *     - `total_usage` is metered requests: generated keys and validations.
         */
        get: operations["metrics"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v2/metrics/series": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The caller's account over time
         * @description The same sums in steps aligned to UTC; quiet steps are there, with zeros.
         *
         *     - Without `step` the answer has at most 300 steps, each as short as that allows.
         *     - `keys_per_second` divides by the step's length, of the last step by what has passed of it.
         *     - Percentiles come from a histogram, with a relative error that the schema states. `null` means that there was nothing to
         *       take them from.
         */
        get: operations["metricsSeries"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v2/metrics/randomness": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The p-values of the caller's last validated keys
         * @description The p-values of the last validated keys, as SP 800-22 §4.2 looks at many sequences.
         *
         *     - Each row is one p-value of one `stream`: 188 of the generator's output before modulation, and four after modulation, which
         *       look for defects of the modulation and say nothing of the generator.
         *     - A row has a histogram, says whether its p-values are spread evenly (`uniformity_p`), and whether as many passed as should
         *       (`proportion` between `proportion_min` and `proportion_max`).
         *     - The interval is SP 800-22's, row by row: of 192 rows some lie outside by chance. `verdict` allows for all rows together: by
         *       chance there is a `fail` anywhere in at most one look in a hundred.
         *     - Fewer than 55 samples are not judged: `null`.
         *     - `include=p_values` adds the raw values, `null` where a test did not apply to a sample.
         */
        get: operations["randomness"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/livez": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The process answers
         * @description 200 while the process answers. Restart it when this fails; nothing else is a reason.
         */
        get: operations["livez"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/readyz": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The replica can serve keys
         * @description 200 while keys can be made and recorded: generators in service, default source delivering, ledger usable, master
         *     secret whole, and not on the way out. `ok` means that a part works and that its own tests found no defect; it measures no
         *     entropy. Send no traffic to a replica that answers 503.
         */
        get: operations["readyz"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/health": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The same as /readyz
         * @description The same answer as `/readyz`, by the name that many monitors expect.
         */
        get: operations["health"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        /**
         * AccountMetrics
         * @description The caller's account in the period.
         */
        AccountMetrics: {
            performance: components["schemas"]["PerformanceMetrics"];
            usage: components["schemas"]["UsageMetrics"];
        };
        /**
         * EntropySource
         * @enum {string}
         */
        EntropySource: "os" | "quantum-simulator" | "jitter" | "device" | "ibm-quantum" | "qrng";
        /**
         * ErrorCode
         * @description stable code of the error
         * @enum {string}
         */
        ErrorCode: "invalid_request" | "malformed_json" | "malformed_request" | "missing_api_key" | "invalid_api_key" | "not_found" | "method_not_allowed" | "request_timeout" | "payload_too_large" | "unsupported_media_type" | "expectation_failed" | "headers_too_large" | "rate_limited" | "quota_exceeded" | "internal_error" | "unsupported_transfer_encoding" | "entropy_unavailable" | "ledger_unavailable" | "overloaded";
        /** FieldError */
        FieldError: {
            /** @description "#/field" in the body, "?name" in the query */
            pointer: string;
            message: string;
        };
        /**
         * GenerateRequest
         * @description null for an optional field means that it is left out. Unknown fields are ignored with a warning; with `Prefer: handling=strict` they are errors.
         */
        GenerateRequest: {
            security_level: components["schemas"]["SecurityLevel"];
            /** @description judge the generator's output before modulation by the SP 800-22 suite; default: false */
            enable_nist_validation?: boolean | null;
            /** @description modulation algorithm type; default: phase */
            modulation_type?: components["schemas"]["ModulationType"] | null;
            /** @description entropy source mixed in beside the operating system; default: os */
            entropy_source?: components["schemas"]["EntropySource"] | null;
            /** @description extra fields to add to the response; nist_report needs enable_nist_validation */
            include?: ("hash_proof" | "nist_report")[] | null;
        };
        /**
         * GeneratedKey
         * @description nist_validation, nist_score and nist_grade come together, with enable_nist_validation.
         */
        GeneratedKey: {
            /** @description true: the call succeeded */
            success: boolean;
            /** @description identifier of the key */
            key_id: string;
            /** @description the key, lowercase hexadecimal; shown once and never stored */
            key: string;
            /** @description the requested level */
            security_level: number;
            /** @description the requested level or the generator's security strength, whichever is less */
            security_strength_bits: number;
            /**
             * Format: double
             * @description min-entropy credited to the key, scaled by the 99 % bound of a defect screen: 254.8 of 256 is no loss; 0 where no source is credited
             */
            entropy_bits: number;
            /**
             * Format: double
             * @description from acceptance to key and proof ready
             */
            latency_ms: number;
            /**
             * Format: date-time
             * @description ISO 8601 date-time with UTC offset
             * @example 2026-01-31T12:00:00.000+00:00
             */
            timestamp: string;
            /** @description entropy source of this key beside the operating system; os: no other */
            source: string;
            /** @description whether source is quantum hardware, on its provider's word alone; credited 0 bits by default */
            quantum_hardware: boolean;
            /** @description job of the hardware that fed the key, or null */
            entropy_job_id: string | null;
            /** @description keyed proof that this service generated the key */
            hash_proof: string;
            nist_validation?: components["schemas"]["NistValidation"];
            /** @description label of this service, required by its interface: share of the tests passed, in percent; with nist_validation */
            nist_score?: number;
            /**
             * @description label of this service, required by its interface: grade of nist_score; with nist_validation
             * @enum {string}
             */
            nist_grade?: "A" | "B" | "C" | "D" | "F";
            nist_report?: components["schemas"]["NistReport"];
            /** @description fields of the request that this service does not know and ignored: eight, then one entry that counts the others */
            warnings?: components["schemas"]["Warning"][];
        };
        /** Health */
        Health: {
            /** @description true when healthy */
            success: boolean;
            /**
             * @description state of this replica
             * @enum {string}
             */
            status: "ok" | "unavailable" | "draining";
            /** @description state of entropy (ok, starting or unavailable), each entropy source, generator (ok, starting, unjudged or latched), ledger, master_secret and accepting */
            checks?: {
                [key: string]: string;
            };
            latch?: components["schemas"]["Latch"];
            /**
             * Format: date-time
             * @description ISO 8601 date-time with UTC offset
             * @example 2026-01-31T12:00:00.000+00:00
             */
            timestamp: string;
        };
        /**
         * Latch
         * @description present once this process makes no more keys because a generator proved defective; a restart clears it
         */
        Latch: {
            /**
             * @description what showed the defect: a self-test, failures of the gate (two in a row, or three within 1,000 verdicts), a biased sample, an exact test that a key failed, or a repeated key
             * @enum {string}
             */
            cause: "self_test" | "gate" | "screen" | "key_test" | "repeated_key";
            /** @description the test that showed it */
            test: string;
        };
        /** Metrics */
        Metrics: {
            /** @description true: the call succeeded */
            success: boolean;
            metrics: components["schemas"]["AccountMetrics"];
            /**
             * Format: date-time
             * @description ISO 8601 date-time with UTC offset
             * @example 2026-01-31T12:00:00.000+00:00
             */
            timestamp: string;
            /** @description fields of the request that this service does not know and ignored: eight, then one entry that counts the others */
            warnings?: components["schemas"]["Warning"][];
        };
        /** MetricsSeries */
        MetricsSeries: {
            /** @description true: the call succeeded */
            success: boolean;
            series: components["schemas"]["Series"];
            /**
             * Format: date-time
             * @description ISO 8601 date-time with UTC offset
             * @example 2026-01-31T12:00:00.000+00:00
             */
            timestamp: string;
            /** @description fields of the request that this service does not know and ignored: eight, then one entry that counts the others */
            warnings?: components["schemas"]["Warning"][];
        };
        /**
         * ModulationType
         * @enum {string}
         */
        ModulationType: "phase" | "frequency" | "amplitude" | "none";
        /**
         * NistGate
         * @description the verdict that releases a key
         * @example {
         *       "p_value": 0.33109547078507195,
         *       "alpha": 0.000001,
         *       "tests": 17,
         *       "weakest": {
         *         "stream": "carrier",
         *         "name": "rank"
         *       },
         *       "verdict": "PASS",
         *       "streams_judged": 1
         *     }
         */
        NistGate: {
            /** Format: double */
            p_value: number;
            /**
             * Format: double
             * @description FAIL below 0.000001
             */
            alpha: number;
            /** @description tests of both streams that enter; p_value is the smallest corrected_p of them times this, at most 1 */
            tests: number;
            weakest: components["schemas"]["NistWeakestTest"];
            /** @enum {string} */
            verdict: "PASS" | "FAIL";
            /**
             * Format: int64
             * @description streams drawn for this key; all but the last failed the gate and were dropped whole
             */
            streams_judged: number;
        };
        /**
         * NistReport
         * @description Full SP 800-22 report on the generator's output before modulation: the first 2^20 bits of the stream whose later bits became this key. Its p-values are kept, the rest is not stored.
         */
        NistReport: {
            /**
             * Format: int64
             * @description n, the length of the sample: 2^20
             * @example 1048576
             */
            bits: number;
            /**
             * @description set of class probabilities: exact ones, or those of the NIST program
             * @enum {string}
             */
            constants: "exact" | "nist";
            /**
             * Format: double
             * @description significance level of one test: 0.01
             */
            alpha: number;
            /** @description the suite on the carrier: the generator's output before modulation */
            tests: components["schemas"]["NistTest"][];
            /** @description entries of "tests" that passed */
            tests_passed: number;
            /** @description entries of "tests" that are applicable */
            total_tests: number;
            /** @description quick tests on the modulated sample, which look for defects of the modulation and say nothing of the generator; empty with modulation_type none. They enter the gate and are not counted in tests_passed */
            modulation_tests: components["schemas"]["NistTest"][];
            gate: components["schemas"]["NistGate"];
        };
        /**
         * NistTest
         * @example {
         *       "name": "cumulative_sums",
         *       "stream": "carrier",
         *       "applicable": true,
         *       "parameters": {},
         *       "labels": [
         *         "forward",
         *         "reverse"
         *       ],
         *       "p_values": [
         *         0.7586146028386168,
         *         0.8595844284218082
         *       ],
         *       "corrected_p": 0.9417330900372413,
         *       "statistics": {
         *         "z_forward": 882,
         *         "z_reverse": 766
         *       },
         *       "passed": true
         *     }
         * @example {
         *       "name": "random_excursions",
         *       "stream": "carrier",
         *       "applicable": false,
         *       "reason": "too few cycles: J = 214, needs at least 500",
         *       "parameters": {},
         *       "labels": [],
         *       "p_values": [],
         *       "corrected_p": null,
         *       "statistics": {},
         *       "passed": null
         *     }
         */
        NistTest: {
            name: components["schemas"]["TestName"];
            stream: components["schemas"]["StreamName"];
            /** @description false when the sample does not meet its conditions */
            applicable: boolean;
            /** @description why the test does not apply */
            reason?: string;
            /** @description what the test was set to, in the symbols of SP 800-22; pi: probabilities */
            parameters: {
                [key: string]: number | boolean | number[];
            };
            /** @description what each p-value is about; empty text where a test has one */
            labels: string[];
            p_values: number[];
            /** @description the smallest p-value, corrected for their number */
            corrected_p: number | null;
            /** @description what was counted; no bits of the sample */
            statistics: {
                [key: string]: number | boolean | number[];
            };
            /** @description corrected_p is at least alpha; null when not applicable */
            passed: boolean | null;
        };
        /** NistValidation */
        NistValidation: {
            /**
             * @description label of this service, required by its interface: whether the gate passed. No key is released on FAIL
             * @enum {string}
             */
            certification_status: "PASS" | "FAIL";
            /** @description tests that the generator's output before modulation passed */
            tests_passed: number;
            /** @description tests that applied to it */
            total_tests: number;
            /**
             * @description label of this service, required by its interface: CERTIFICATION_READY if all tests passed, REVIEW if any fell below 0.01. NIST certifies nothing by SP 800-22
             * @enum {string}
             */
            compliance_level: "CERTIFICATION_READY" | "REVIEW" | "NON_COMPLIANT";
        };
        /**
         * NistWeakestTest
         * @description the test with the smallest corrected_p of those that enter
         */
        NistWeakestTest: {
            stream: components["schemas"]["StreamName"];
            name: components["schemas"]["TestName"];
        };
        /** PerformanceMetrics */
        PerformanceMetrics: {
            /** Format: int64 */
            total_keys_generated: number;
            /**
             * Format: double
             * @description 0 without keys
             */
            average_latency_ms: number;
            /**
             * Format: double
             * @description share of validated streams that passed the gate; 1 without any
             */
            nist_compliance_rate: number;
            /**
             * Format: double
             * @description generate calls answered 5xx / (2xx + 5xx); 0 without any
             */
            error_rate: number;
        };
        /** Problem */
        Problem: {
            /** @description false: the call failed */
            success: boolean;
            /** @description urn:phm:error: and the code */
            type: string;
            title: string;
            status: number;
            detail: string;
            /** @description urn:phm:request: and the request id */
            instance: string;
            code: components["schemas"]["ErrorCode"];
            /** @description the X-Request-Id of this request */
            request_id: string;
            /**
             * Format: date-time
             * @description ISO 8601 date-time with UTC offset
             * @example 2026-01-31T12:00:00.000+00:00
             */
            timestamp: string;
            errors?: components["schemas"]["FieldError"][];
        };
        /** Randomness */
        Randomness: {
            /** @description true: the call succeeded */
            success: boolean;
            randomness: components["schemas"]["RandomnessSums"];
            /**
             * Format: date-time
             * @description ISO 8601 date-time with UTC offset
             * @example 2026-01-31T12:00:00.000+00:00
             */
            timestamp: string;
            /** @description fields of the request that this service does not know and ignored: eight, then one entry that counts the others */
            warnings?: components["schemas"]["Warning"][];
        };
        /** RandomnessRow */
        RandomnessRow: {
            stream: components["schemas"]["StreamName"];
            test: components["schemas"]["TestName"];
            /** @description what the p-value is about, as in nist_report; empty where a test has one */
            label: string;
            /**
             * Format: int64
             * @description keys to whose sample the test applied
             */
            samples: number;
            /** @description p-values in [0, 0.1), [0.1, 0.2) … [0.9, 1] */
            histogram: number[];
            /** @description P-value_T of SP 800-22 §4.2.2; null for fewer than 55 samples */
            uniformity_p: number | null;
            /**
             * Format: int64
             * @description samples with a p-value of at least significance_level
             */
            passed: number;
            /** @description passed / samples; null for fewer than 55 samples */
            proportion: number | null;
            /** @description lower end of the interval of SP 800-22 §4.2.1; null for fewer than 55 samples */
            proportion_min: number | null;
            /** @description its upper end; null for fewer than 55 samples */
            proportion_max: number | null;
            /** @description fail: one of two exact checks has a probability below 0.01 over the number of all checks; null for fewer than 55 samples */
            verdict: ("pass" | "fail") | null;
            /** @description with include=p_values: one a key, oldest first */
            p_values?: (number | null)[];
        };
        /**
         * RandomnessSums
         * @description The samples of the caller's last validated keys, after SP 800-22 §4.2. Keys of releases that tested the modulated stream by the whole suite are left out.
         */
        RandomnessSums: {
            /** @description keys looked at */
            keys: number;
            /** @description when the oldest of them was recorded; null without keys */
            first: string | null;
            /** @description when the newest of them was recorded; null without keys */
            last: string | null;
            /**
             * Format: double
             * @description of one test: 0.01
             */
            significance_level: number;
            /** @description one a p-value: the 188 of the suite on the carrier, then the 4 of the tests on the modulated stream */
            rows: components["schemas"]["RandomnessRow"][];
        };
        /**
         * SecurityLevel
         * @description length of the key in bits
         */
        SecurityLevel: number & (128 | 256 | 384);
        /**
         * Series
         * @description The caller's account over the period.
         */
        Series: {
            /** @description length of a step */
            step_minutes: number;
            /**
             * Format: date-time
             * @description ISO 8601 date-time with UTC offset
             * @example 2026-01-31T12:00:00.000+00:00
             */
            start: string;
            /**
             * Format: date-time
             * @description ISO 8601 date-time with UTC offset
             * @example 2026-01-31T12:00:00.000+00:00
             */
            end: string;
            /** @description every step from start to end, aligned to UTC, quiet ones as well */
            points: components["schemas"]["SeriesPoint"][];
        };
        /** SeriesLatency */
        SeriesLatency: {
            /**
             * Format: double
             * @description exact
             */
            mean: number;
            /** @description from a histogram: off by at most 9.1 %; null where not all keys are in it */
            p50: number | null;
            /** @description as p50 */
            p90: number | null;
            /** @description as p50 */
            p99: number | null;
        };
        /** SeriesPoint */
        SeriesPoint: {
            /**
             * Format: date-time
             * @description ISO 8601 date-time with UTC offset
             * @example 2026-01-31T12:00:00.000+00:00
             */
            start: string;
            /**
             * Format: int64
             * @description generated keys
             */
            keys: number;
            /**
             * Format: double
             * @description keys / length of the step; of the last one, what has passed of it, at least 1 s
             */
            keys_per_second: number;
            /**
             * Format: int64
             * @description metered requests: generated keys and validations
             */
            requests: number;
            /** @description from acceptance to key and proof ready; null without keys */
            latency_ms: components["schemas"]["SeriesLatency"] | null;
            /**
             * Format: int64
             * @description streams judged by the statistical suite
             */
            streams: number;
            /** @description share of them that passed the gate; null without any */
            nist_compliance_rate: number | null;
            /**
             * Format: int64
             * @description generate calls answered 5xx
             */
            failures: number;
            /** @description failures / (keys + failures); null without calls */
            error_rate: number | null;
        };
        /**
         * StepMinutes
         * @description length of a step in minutes
         */
        StepMinutes: number & (1 | 5 | 15 | 60 | 360 | 1440);
        /**
         * StreamName
         * @description carrier: the generator's output before modulation; modulated: what the modulation makes of it, and keys are cut from
         * @enum {string}
         */
        StreamName: "carrier" | "modulated";
        /**
         * TestName
         * @description a test of SP 800-22
         * @enum {string}
         */
        TestName: "frequency" | "block_frequency" | "cumulative_sums" | "runs" | "longest_run" | "rank" | "dft" | "non_overlapping_template" | "overlapping_template" | "universal" | "approximate_entropy" | "random_excursions" | "random_excursions_variant" | "serial" | "linear_complexity";
        /** UsageMetrics */
        UsageMetrics: {
            /**
             * Format: int64
             * @description active API keys
             */
            api_key_count: number;
            /**
             * Format: int64
             * @description metered requests
             */
            total_usage: number;
        };
        /**
         * ValidateRequest
         * @description null for an optional field means that it is left out. Unknown fields are ignored with a warning; with `Prefer: handling=strict` they are errors.
         */
        ValidateRequest: {
            /** @description the key to validate: 32, 64 or 96 lowercase hexadecimal digits */
            key: string;
            /** @description proof from generate; without it, or with an empty one, the ledger decides */
            hash_proof?: string | null;
        };
        /** ValidationDetails */
        ValidationDetails: {
            /**
             * @description 32, 64 or 96 lowercase hexadecimal digits
             * @enum {string}
             */
            key_format: "valid" | "invalid";
            /**
             * @description six exact binomial tests
             * @enum {string}
             */
            entropy_check: "passed" | "failed" | "skipped";
            /**
             * @description the proof, or without one the ledger, vouches for the key; "unconfirmed": the key is of a retired version of the master secret, and no record vouches for it
             * @enum {string}
             */
            proof_verification: "passed" | "failed" | "skipped" | "unconfirmed";
            /**
             * @description only with a key of a retired version of the master secret: what the ledger, which then decides, has of it
             * @enum {string}
             */
            retired_secret?: "record_found" | "record_too_late" | "no_record";
        };
        /** ValidationResult */
        ValidationResult: {
            /** @description true: the call succeeded */
            success: boolean;
            /** @description overall verdict: all three checks are good */
            valid: boolean;
            validation_details: components["schemas"]["ValidationDetails"];
            /**
             * Format: date-time
             * @description ISO 8601 date-time with UTC offset
             * @example 2026-01-31T12:00:00.000+00:00
             */
            timestamp: string;
            /** @description fields of the request that this service does not know and ignored: eight, then one entry that counts the others */
            warnings?: components["schemas"]["Warning"][];
        };
        /** Warning */
        Warning: {
            /**
             * @description stable code of the warning
             * @enum {string}
             */
            code: "unknown_field";
            /** @description "#/field" in the body, "?name" in the query */
            pointer: string;
            /** @description a sentence for people */
            detail: string;
        };
    };
    responses: never;
    parameters: {
        /** @description `handling=strict` (RFC 7240) refuses unknown fields of the body and the query with 400 `invalid_request`. Without it they are accepted, and `warnings` names them. */
        Prefer: string;
        /** @description Label of this request: 1 to 128 letters, digits, ".", "_" or "-". The answer and the log repeat it. Without one, or with any other, the service makes one. */
        RequestId: string;
    };
    requestBodies: never;
    headers: {
        /** @description Label of the request, which the log has too. */
        "X-Request-Id": string;
        /**
         * @description The limits: q requests in w seconds. "rate" is the bucket of the API key, "quota" the month of the account (draft-ietf-httpapi-ratelimit-headers).
         * @example "rate";q=20;w=2, "quota";q=1000;w=2678400
         */
        "RateLimit-Policy": string;
        /**
         * @description What is left of them: r requests, and t seconds until more. `X-RateLimit-Limit`, `-Remaining` and `-Reset` repeat "rate".
         * @example "rate";r=19;t=1, "quota";r=999;t=43200
         */
        RateLimit: string;
        /**
         * @description `handling=strict` or `handling=lenient`, when `Prefer` of the request asks for it.
         * @example handling=strict
         */
        "Preference-Applied": string;
        /**
         * @description Seconds to wait before the next try.
         * @example 1
         */
        "Retry-After": number;
        /**
         * @description Names the header that the API key goes into.
         * @example ApiKey realm="phm", header="X-API-Key"
         */
        "WWW-Authenticate": string;
    };
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    generate: {
        parameters: {
            query?: never;
            header?: {
                /** @description `handling=strict` (RFC 7240) refuses unknown fields of the body and the query with 400 `invalid_request`. Without it they are accepted, and `warnings` names them. */
                Prefer?: components["parameters"]["Prefer"];
                /** @description Label of this request: 1 to 128 letters, digits, ".", "_" or "-". The answer and the log repeat it. Without one, or with any other, the service makes one. */
                "X-Request-Id"?: components["parameters"]["RequestId"];
            };
            path?: never;
            cookie?: never;
        };
        /** @description null for an optional field means that it is left out. Unknown fields are ignored with a warning; with `Prefer: handling=strict` they are errors. */
        requestBody: {
            content: {
                "application/json": components["schemas"]["GenerateRequest"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "Preference-Applied": components["headers"]["Preference-Applied"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["GeneratedKey"];
                };
            };
            /** @description malformed_request: The request is not well-formed HTTP; invalid_request: The request is not valid; malformed_json: The request body is not valid JSON */
            400: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "Preference-Applied": components["headers"]["Preference-Applied"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description missing_api_key: The request carries no API key; invalid_api_key: The API key is not valid */
            401: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "Preference-Applied": components["headers"]["Preference-Applied"];
                    "WWW-Authenticate": components["headers"]["WWW-Authenticate"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description request_timeout: The request did not arrive in time */
            408: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "Preference-Applied": components["headers"]["Preference-Applied"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description payload_too_large: The request body is too large */
            413: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "Preference-Applied": components["headers"]["Preference-Applied"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description unsupported_media_type: The request body is not JSON */
            415: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "Preference-Applied": components["headers"]["Preference-Applied"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description expectation_failed: The expectation in the Expect header cannot be met */
            417: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "Preference-Applied": components["headers"]["Preference-Applied"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description rate_limited: Too many requests in a short time; quota_exceeded: The account's monthly quota is used up */
            429: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "Preference-Applied": components["headers"]["Preference-Applied"];
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description headers_too_large: The request headers are too large */
            431: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "Preference-Applied": components["headers"]["Preference-Applied"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description internal_error: The service met an unexpected error */
            500: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "Preference-Applied": components["headers"]["Preference-Applied"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description unsupported_transfer_encoding: The transfer encoding of the body is not supported */
            501: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "Preference-Applied": components["headers"]["Preference-Applied"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description ledger_unavailable: The ledger cannot be used at present; overloaded: The service cannot take more work at present; entropy_unavailable: The random bit generator cannot vouch for its output */
            503: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "Preference-Applied": components["headers"]["Preference-Applied"];
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    validate: {
        parameters: {
            query?: never;
            header?: {
                /** @description `handling=strict` (RFC 7240) refuses unknown fields of the body and the query with 400 `invalid_request`. Without it they are accepted, and `warnings` names them. */
                Prefer?: components["parameters"]["Prefer"];
                /** @description Label of this request: 1 to 128 letters, digits, ".", "_" or "-". The answer and the log repeat it. Without one, or with any other, the service makes one. */
                "X-Request-Id"?: components["parameters"]["RequestId"];
            };
            path?: never;
            cookie?: never;
        };
        /** @description null for an optional field means that it is left out. Unknown fields are ignored with a warning; with `Prefer: handling=strict` they are errors. */
        requestBody: {
            content: {
                "application/json": components["schemas"]["ValidateRequest"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "Preference-Applied": components["headers"]["Preference-Applied"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ValidationResult"];
                };
            };
            /** @description malformed_request: The request is not well-formed HTTP; invalid_request: The request is not valid; malformed_json: The request body is not valid JSON */
            400: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "Preference-Applied": components["headers"]["Preference-Applied"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description missing_api_key: The request carries no API key; invalid_api_key: The API key is not valid */
            401: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "Preference-Applied": components["headers"]["Preference-Applied"];
                    "WWW-Authenticate": components["headers"]["WWW-Authenticate"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description request_timeout: The request did not arrive in time */
            408: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "Preference-Applied": components["headers"]["Preference-Applied"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description payload_too_large: The request body is too large */
            413: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "Preference-Applied": components["headers"]["Preference-Applied"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description unsupported_media_type: The request body is not JSON */
            415: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "Preference-Applied": components["headers"]["Preference-Applied"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description expectation_failed: The expectation in the Expect header cannot be met */
            417: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "Preference-Applied": components["headers"]["Preference-Applied"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description rate_limited: Too many requests in a short time; quota_exceeded: The account's monthly quota is used up */
            429: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "Preference-Applied": components["headers"]["Preference-Applied"];
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description headers_too_large: The request headers are too large */
            431: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "Preference-Applied": components["headers"]["Preference-Applied"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description internal_error: The service met an unexpected error */
            500: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "Preference-Applied": components["headers"]["Preference-Applied"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description unsupported_transfer_encoding: The transfer encoding of the body is not supported */
            501: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "Preference-Applied": components["headers"]["Preference-Applied"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description ledger_unavailable: The ledger cannot be used at present; overloaded: The service cannot take more work at present */
            503: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "Preference-Applied": components["headers"]["Preference-Applied"];
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    metrics: {
        parameters: {
            query?: {
                /** @description length of the period in hours: decimal digits, given once */
                hours?: number;
            };
            header?: {
                /** @description `handling=strict` (RFC 7240) refuses unknown fields of the body and the query with 400 `invalid_request`. Without it they are accepted, and `warnings` names them. */
                Prefer?: components["parameters"]["Prefer"];
                /** @description Label of this request: 1 to 128 letters, digits, ".", "_" or "-". The answer and the log repeat it. Without one, or with any other, the service makes one. */
                "X-Request-Id"?: components["parameters"]["RequestId"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "Preference-Applied": components["headers"]["Preference-Applied"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Metrics"];
                };
            };
            /** @description malformed_request: The request is not well-formed HTTP; invalid_request: The request is not valid */
            400: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "Preference-Applied": components["headers"]["Preference-Applied"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description missing_api_key: The request carries no API key; invalid_api_key: The API key is not valid */
            401: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "Preference-Applied": components["headers"]["Preference-Applied"];
                    "WWW-Authenticate": components["headers"]["WWW-Authenticate"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description request_timeout: The request did not arrive in time */
            408: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "Preference-Applied": components["headers"]["Preference-Applied"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description expectation_failed: The expectation in the Expect header cannot be met */
            417: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "Preference-Applied": components["headers"]["Preference-Applied"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description rate_limited: Too many requests in a short time */
            429: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "Preference-Applied": components["headers"]["Preference-Applied"];
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description headers_too_large: The request headers are too large */
            431: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "Preference-Applied": components["headers"]["Preference-Applied"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description internal_error: The service met an unexpected error */
            500: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "Preference-Applied": components["headers"]["Preference-Applied"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description unsupported_transfer_encoding: The transfer encoding of the body is not supported */
            501: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "Preference-Applied": components["headers"]["Preference-Applied"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description ledger_unavailable: The ledger cannot be used at present; overloaded: The service cannot take more work at present */
            503: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "Preference-Applied": components["headers"]["Preference-Applied"];
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    metricsSeries: {
        parameters: {
            query?: {
                /** @description length of the period in hours: decimal digits, given once */
                hours?: number;
                /** @description length of a step in minutes */
                step?: components["schemas"]["StepMinutes"];
            };
            header?: {
                /** @description `handling=strict` (RFC 7240) refuses unknown fields of the body and the query with 400 `invalid_request`. Without it they are accepted, and `warnings` names them. */
                Prefer?: components["parameters"]["Prefer"];
                /** @description Label of this request: 1 to 128 letters, digits, ".", "_" or "-". The answer and the log repeat it. Without one, or with any other, the service makes one. */
                "X-Request-Id"?: components["parameters"]["RequestId"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "Preference-Applied": components["headers"]["Preference-Applied"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["MetricsSeries"];
                };
            };
            /** @description malformed_request: The request is not well-formed HTTP; invalid_request: The request is not valid */
            400: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "Preference-Applied": components["headers"]["Preference-Applied"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description missing_api_key: The request carries no API key; invalid_api_key: The API key is not valid */
            401: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "Preference-Applied": components["headers"]["Preference-Applied"];
                    "WWW-Authenticate": components["headers"]["WWW-Authenticate"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description request_timeout: The request did not arrive in time */
            408: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "Preference-Applied": components["headers"]["Preference-Applied"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description expectation_failed: The expectation in the Expect header cannot be met */
            417: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "Preference-Applied": components["headers"]["Preference-Applied"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description rate_limited: Too many requests in a short time */
            429: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "Preference-Applied": components["headers"]["Preference-Applied"];
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description headers_too_large: The request headers are too large */
            431: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "Preference-Applied": components["headers"]["Preference-Applied"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description internal_error: The service met an unexpected error */
            500: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "Preference-Applied": components["headers"]["Preference-Applied"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description unsupported_transfer_encoding: The transfer encoding of the body is not supported */
            501: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "Preference-Applied": components["headers"]["Preference-Applied"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description ledger_unavailable: The ledger cannot be used at present; overloaded: The service cannot take more work at present */
            503: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "Preference-Applied": components["headers"]["Preference-Applied"];
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    randomness: {
        parameters: {
            query?: {
                /** @description how many of the last validated keys: decimal digits, given once */
                keys?: number;
                /** @description extra field of each row, given once: its p-values */
                include?: "p_values";
            };
            header?: {
                /** @description `handling=strict` (RFC 7240) refuses unknown fields of the body and the query with 400 `invalid_request`. Without it they are accepted, and `warnings` names them. */
                Prefer?: components["parameters"]["Prefer"];
                /** @description Label of this request: 1 to 128 letters, digits, ".", "_" or "-". The answer and the log repeat it. Without one, or with any other, the service makes one. */
                "X-Request-Id"?: components["parameters"]["RequestId"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "Preference-Applied": components["headers"]["Preference-Applied"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Randomness"];
                };
            };
            /** @description malformed_request: The request is not well-formed HTTP; invalid_request: The request is not valid */
            400: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "Preference-Applied": components["headers"]["Preference-Applied"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description missing_api_key: The request carries no API key; invalid_api_key: The API key is not valid */
            401: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "Preference-Applied": components["headers"]["Preference-Applied"];
                    "WWW-Authenticate": components["headers"]["WWW-Authenticate"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description request_timeout: The request did not arrive in time */
            408: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "Preference-Applied": components["headers"]["Preference-Applied"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description expectation_failed: The expectation in the Expect header cannot be met */
            417: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "Preference-Applied": components["headers"]["Preference-Applied"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description rate_limited: Too many requests in a short time */
            429: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "Preference-Applied": components["headers"]["Preference-Applied"];
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description headers_too_large: The request headers are too large */
            431: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "Preference-Applied": components["headers"]["Preference-Applied"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description internal_error: The service met an unexpected error */
            500: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "Preference-Applied": components["headers"]["Preference-Applied"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description unsupported_transfer_encoding: The transfer encoding of the body is not supported */
            501: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "Preference-Applied": components["headers"]["Preference-Applied"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description ledger_unavailable: The ledger cannot be used at present; overloaded: The service cannot take more work at present */
            503: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "Preference-Applied": components["headers"]["Preference-Applied"];
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    livez: {
        parameters: {
            query?: never;
            header?: {
                /** @description Label of this request: 1 to 128 letters, digits, ".", "_" or "-". The answer and the log repeat it. Without one, or with any other, the service makes one. */
                "X-Request-Id"?: components["parameters"]["RequestId"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Health"];
                };
            };
            /** @description malformed_request: The request is not well-formed HTTP */
            400: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description request_timeout: The request did not arrive in time */
            408: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description expectation_failed: The expectation in the Expect header cannot be met */
            417: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description headers_too_large: The request headers are too large */
            431: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description internal_error: The service met an unexpected error */
            500: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description unsupported_transfer_encoding: The transfer encoding of the body is not supported */
            501: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    readyz: {
        parameters: {
            query?: never;
            header?: {
                /** @description Label of this request: 1 to 128 letters, digits, ".", "_" or "-". The answer and the log repeat it. Without one, or with any other, the service makes one. */
                "X-Request-Id"?: components["parameters"]["RequestId"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Health"];
                };
            };
            /** @description malformed_request: The request is not well-formed HTTP */
            400: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description request_timeout: The request did not arrive in time */
            408: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description expectation_failed: The expectation in the Expect header cannot be met */
            417: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description headers_too_large: The request headers are too large */
            431: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description internal_error: The service met an unexpected error */
            500: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description unsupported_transfer_encoding: The transfer encoding of the body is not supported */
            501: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Not ready */
            503: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Health"];
                };
            };
        };
    };
    health: {
        parameters: {
            query?: never;
            header?: {
                /** @description Label of this request: 1 to 128 letters, digits, ".", "_" or "-". The answer and the log repeat it. Without one, or with any other, the service makes one. */
                "X-Request-Id"?: components["parameters"]["RequestId"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Health"];
                };
            };
            /** @description malformed_request: The request is not well-formed HTTP */
            400: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description request_timeout: The request did not arrive in time */
            408: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description expectation_failed: The expectation in the Expect header cannot be met */
            417: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description headers_too_large: The request headers are too large */
            431: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description internal_error: The service met an unexpected error */
            500: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description unsupported_transfer_encoding: The transfer encoding of the body is not supported */
            501: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Not ready */
            503: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Health"];
                };
            };
        };
    };
}
