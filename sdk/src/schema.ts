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
         * @description Generates one key from its own stream, after a reseed from the operating system. The response has the same fields
         *     for every source. Only `security_level` is required.
         *
         *     - With `enable_nist_validation` the 15 tests judge 2^20 bits of the generator's output, before modulation, in nine segments after
         *       a reseed each. Four quick tests judge the same bits after modulation: they look for defects of the modulation and say nothing about
         *       the generator. The key is cut from bits behind the last segment, and only if the gate over all these tests passes.
         *     - Read `tests_passed` and `total_tests` first. `total_tests` is 13 if the two random excursions tests do not apply, as in
         *       more than one sound sample in three. In about one sound sample in eight a test fails by chance (its `corrected_p` is below
         *       0.01): the key is no worse.
         *       `"include": ["nist_report"]` adds the gate's p-value, and every p-value with its stream.
         *     - `certification_status`, `compliance_level`, `nist_score` and `nist_grade` are labels for existing clients. They restate
         *       these results by rules of this service, and certify nothing.
         *     - `entropy_bits` is a computational credit to the sources, times the bound of a screen on the share of ones; it is not the entropy of
         *       the key. The operating system alone is credited at most 256 bits, also for a 384-bit key. About 254.8 of 256 is typical and no loss.
         *     - `security_strength_bits` is the smaller of `security_level` and the strength of the generator, 256 bits. Compare this in a policy.
         *     - `quantum_hardware` is the claim of the provider of `source`, whose output is in the reseed of this key. This service cannot check it
         *       and credits it with 0 bits by default. The quantum simulator is always credited with 0 bits.
         *     - `"include": ["receipt"]` adds `receipt`, `receipt_url` and `opening`. The response then waits up to 2 s for the next checkpoint of
         *       the transparency log. After that `receipt` is `null`, and `receipt_url` returns it later. Store `opening` beside the key, and as
         *       secret: with both, the receipt's `key_commitment` shows that the receipt is for this key. A server without a log answers 400.
         *     - `latency_ms` runs from acceptance of the request until key and proof are ready. It includes queues, but not the network.
         *     - With `Idempotency-Key` the same request can be sent again. The key itself cannot be sent again, because it is not stored: if the
         *       first request has generated it, the second gets 409 `key_already_made` with the `key_id`, and no second key is generated.
         *
         *     The API key needs the scope `generate`.
         */
        post: operations["generate"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v2/generate/sealed": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Generate a key sealed to a recipient
         * @description Generates one key as `/api/v2/generate` does, and encrypts it to the public key of its recipient with HPKE (RFC 9180). Only
         *     the holder of the private key can open the response: `openSealedKey` of the clients, or `phm open`.
         *
         *     - `seal_to` is `{"suite", "public_key"}` or `{"recipient": "<name>"}`, a name that the operator has registered for the account. The
         *       file that `phm recipient new` writes fits as it is. The default suite is `MLKEM768-X25519`.
         *     - A list of two to eight recipients gives all of them one key, which counts once: `sealed_keys` has a sealed key for each, in
         *       order. All must have different public keys.
         *     - The response has the fields of generate without `key`, `hash_proof` and `opening`: these are inside `sealed_key`.
         *       `hash_proof` in `include` is therefore refused.
         *     - HPKE's base mode does not show who sealed a key. An intermediary that changes your request can replace the public key by its own. A
         *       receipt shows the recipient (`sealed_to`) and the ciphertext (`sealed_digest`): ask for it and check it. A registered
         *       recipient prevents the swap only if the operator limits the account to such recipients.
         *     - With `Idempotency-Key` the same request gets the same bytes again for 24 hours, with `Idempotent-Replayed: true`, and counts
         *       once. Receipts and warnings are added when the response is sent.
         *     - The service generates the key, so it sees it. Validating a sealed key sends it to the service.
         *
         *     The API key needs the scope `generate`.
         */
        post: operations["generateSealed"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v2/generate/batch": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Generate a batch of keys
         * @description Generates `count` keys of the same kind, 1 to 1,000: all of them, or none. An element of `keys` has the fields of generate's response
         *     without `success` and `warnings`.
         *
         *     - A batch takes `count` requests from the quota, and `count` but at most the burst from the rate limit.
         *     - `count` is at most 100 with `nist_report` or `receipt` in `include`.
         *     - A batch with `enable_nist_validation` can be too large for this server: 413 `batch_too_large` with `max_count`.
         *     - With `Idempotency-Key` a repeated request gets 409 `key_already_made` with all `key_ids`, as for a single key.
         *
         *     The API key needs the scope `generate`.
         */
        post: operations["generateBatch"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v2/generate/sealed/batch": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Generate a batch of sealed keys
         * @description Generates `count` keys, 1 to 1,000, all sealed to the same recipients: all of them, or none. An element of `keys` has the fields of the
         *     sealed response without `success` and `warnings`.
         *
         *     - Quota, rate limit and largest `count` are those of the plain batch. With several recipients a response has at most 1,000
         *       sealed keys in all.
         *     - With `Idempotency-Key` the response is kept and sent again, byte for byte. It may then have at most 4 MiB: beyond that 413
         *       `batch_too_large` with `max_count`.
         *
         *     The API key needs the scope `generate`.
         */
        post: operations["generateSealedBatch"];
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
         * @description Reports whether this service generated a key.
         *
         *     - `proof_verification` checks the `hash_proof`, or without one the ledger. A good key from elsewhere fails it.
         *     - The operator can retire a leaked version of the master secret. A proof under that version no longer decides: `retired_secret`
         *       reports the ledger's record of the key. Without a record from before the leak the proof is `unconfirmed`: it may be forged, or
         *       the record may have been removed.
         *     - `entropy_check` is six exact tests, which a sound key fails with a probability below 2^-50. It finds constant or repeating
         *       keys: it bounds the bias of a key, measures no entropy, and says nothing about the origin of a key.
         *     - A malformed key gets a verdict, 200 with `valid: false`, not an error.
         *
         *     The API key needs the scope `validate`.
         */
        post: operations["validate"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v2/keys": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The keys of the account, newest first
         * @description Returns the records of the account's keys, newest first: what the ledger knows, never a key. Not metered.
         *
         *     - Pass `next_cursor` as `cursor` until it is `null`. Keys that are generated meanwhile do not disturb the pages.
         *     - A call reads at most 1,000 records and ends a search after some 20 ms. With a filter that few keys meet, a page can be short, even empty, and still have a
         *       `next_cursor`.
         *     - A key must meet all filters. `label` is `name:value`, and may be repeated.
         *     - Records that the operator's retention has pruned are not in the list.
         *
         *     The API key needs the scope `read`.
         */
        get: operations["listKeys"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v2/keys/{key_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The record of a key
         * @description Returns the record of a key that your account generated: what the ledger knows, never the key. Not metered.
         *
         *     - `key_not_found`: your account has no such key, or its record was pruned.
         *
         *     The API key needs the scope `read`.
         */
        get: operations["getKey"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v2/keys/{key_id}/revoke": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Revoke a key
         * @description Revokes a key of your account. From then on `validate` calls it invalid, on every server, also with its proof. Not metered.
         *
         *     - `key_compromise` makes it `compromised`, also if it is deactivated already. Every other reason makes a key
         *       `deactivated` that is not revoked, also if it has expired. No key becomes active again (SP 800-57 Part 1 §7).
         *     - A repeated request changes nothing and gets the same record, so it is safe to retry.
         *     - A revocation that changes the state is an entry of the transparency log.
         *     - Holders of the key learn of it only if they ask `validate`.
         *
         *     The API key needs the scope `generate`.
         */
        post: operations["revokeKey"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v2/deliveries": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The copies that wait for a recipient, oldest first
         * @description Returns the copies in the box of a recipient, oldest key first. Not metered.
         *
         *     - `wait`: if no copy waits, the answer comes with the next one, or empty after so many seconds. Ask again at once.
         *     - Pass `next_cursor` as `cursor` until it is `null`; then begin without a cursor.
         *     - A copy that you fetch is listed under `state=received`, until you remove it or it expires.
         *     - An API key that is bound to recipients lists only theirs: others are 403 `insufficient_scope`.
         *
         *     The API key needs the scope `receive`.
         */
        get: operations["listDeliveries"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v2/deliveries/fetch": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Fetch sealed keys
         * @description Returns sealed keys of a recipient, with their receipts, and marks their copies as `received`. Repeatable. Not metered.
         *
         *     - Each element has the state of the copy now. Only `received` ones have `sealed_key`.
         *     - If none can be fetched: 410 `delivery_gone`, or 404 `delivery_not_found` if all are `unknown`. `deliveries` of the problem
         *       has the states.
         *     - Open a sealed key and check its receipt before you use it. Remove the copy when it is no longer needed.
         *
         *     The API key needs the scope `receive`.
         */
        post: operations["fetchDeliveries"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v2/deliveries/remove": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Remove copies
         * @description Removes copies from the box of a recipient: their sealed keys are deleted, and cannot be fetched any more. Not metered.
         *
         *     - A repeated request changes nothing, so it is safe to retry.
         *     - If all IDs are `unknown`: 404 `delivery_not_found`.
         *
         *     The API key needs the scope `receive`.
         */
        post: operations["removeDeliveries"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v2/deliveries/{delivery_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The states of a delivery at its recipients
         * @description Returns the state of a delivery of your account at each of its recipients. Not metered.
         *
         *     - `delivery_not_found`: your account has no such delivery, or the record of its key was pruned.
         *
         *     The API key needs the scope `generate` or the scope `read`.
         */
        get: operations["getDelivery"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v2/keys/{key_id}/receipt": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The receipt for a key
         * @description Returns the receipt for a key that your account generated. Not metered.
         *
         *     - With witnesses, the receipt has the newest checkpoint that enough witnesses have cosigned.
         *     - `wait`: seconds to wait for a receipt that is not ready.
         *     - `receipt_pending`: no published checkpoint covers the record yet, or too few witnesses have cosigned one (`detail`). Wait as
         *       `Retry-After` says.
         *     - `receipt_not_found`: your account has no such key, or the key is older than the log.
         *     - `record_altered`: the ledger's record of the key was changed after it entered the log. The service serves no receipt that does
         *       not match its log.
         *
         *     The API key needs the scope `read`.
         */
        get: operations["receipt"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v2/receipts": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * The receipt for a key, by its commitment
         * @description Returns the receipt for a key to anyone who has its `key_id` and `key_commitment`: the recipient of a sealed key needs no
         *     API key. Both are in the `header` of the sealed key. Not metered; each address may send 10 requests a second, 100 at once.
         *
         *     - The answer is that of `GET /api/v2/keys/{key_id}/receipt`.
         *     - Whoever saw the header, such as a proxy, can ask too. The receipt shows neither the key nor its account.
         *     - `receipt_not_found`: there is no such key, its commitment is another one, or it has no receipt. The answer is the same.
         *     - `receipt_pending`: the commitment is right, but the receipt is not ready. `wait` waits for it.
         */
        post: operations["receiptByCommitment"];
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
         * @description Returns sums over the last `hours`. The period starts on a whole minute.
         *
         *     - `average_latency_ms` is the mean of the keys' `latency_ms`.
         *     - `nist_compliance_rate` is the share of judged streams that passed the gate; 1 without any.
         *     - `error_rate` is generate calls with a 5xx response divided by these calls plus the generated keys. A failed batch counts once,
         *       and a successful one by its keys. 4xx do not count.
         *     - `total_usage` is metered requests: generated keys and validations.
         *
         *     The API key needs the scope `read`.
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
         * @description Returns the same sums in steps aligned to UTC. Quiet steps are present, with zeros.
         *
         *     - Without `step` you get the shortest that gives at most 300 steps, or 1440.
         *     - `keys_per_second` divides by the step's length, in the last step by the time that has passed.
         *     - Percentiles come from a histogram; the schema states their relative error. `null` means that there are no data.
         *
         *     The API key needs the scope `read`.
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
         * @description Returns the p-values of the last validated keys, judged together as SP 800-22 §4.2 judges many sequences.
         *
         *     - Each row is one p-value of one `stream`: 188 of the generator's output before modulation, and four after modulation, which
         *       look for defects of the modulation and say nothing about the generator.
         *     - A row shows whether its p-values are spread evenly (`histogram`, `uniformity_p`), and whether as many passed as expected
         *       (`proportion` between `proportion_min` and `proportion_max`).
         *     - The interval is SP 800-22's for a single row: of 192 rows, some lie outside by chance. `verdict` corrects for the number of
         *       rows: by chance at most one query in a hundred shows any `fail`.
         *     - Below 55 samples the verdict is `null`.
         *     - `include=p_values` adds the p-values themselves, `null` where a test did not apply to a sample.
         *
         *     The API key needs the scope `read`.
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
    "/log/checkpoint": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The newest checkpoint of the transparency log
         * @description Returns the newest signed checkpoint: the size and the root hash of the log. Any web page may read it.
         *
         *     The tiles of the tree are at `/log/tile/{L}/{N}` and its entries at `/log/tile/entries/{N}`, both also with `.p/{W}` for the last,
         *     partial one: 256 hashes or entries each, with the paths of c2sp.org/tlog-tiles, such as `/log/tile/0/x001/234`. They never change, so
         *     caches may keep them. OpenAPI cannot describe paths of varying length.
         */
        get: operations["logCheckpoint"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/log/policy": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The verifier keys of the transparency log
         * @description Returns the keys that sign the log's checkpoints, as a policy in the form of c2sp.org/tlog-policy: the ML-DSA-44 key in the
         *     `log` line, the Ed25519 key in a comment, and the witnesses. Keep a copy: receipts are verified against it. A copy that you fetch
         *     together with a receipt shows only that both come from the same server.
         */
        get: operations["logPolicy"];
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
         * Liveness of the process
         * @description Returns 200 while the process responds. Restart the process only if this check fails.
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
         * Readiness of the server
         * @description Returns 200 while the server can generate and record keys: the generators work, the default source delivers, the
         *     ledger is available, the master secret is complete, and the server is not shutting down. `ok` means that a part works and that
         *     its own tests found no defect; it does not measure entropy. Send no traffic to a server that returns 503.
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
         * @description The same as `/readyz`, at the path that many monitoring systems expect.
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
        /** BatchKey */
        BatchKey: {
            /** @description identifier of the key */
            key_id: string;
            /** @description the key in lowercase hexadecimal; shown once and never stored */
            key: string;
            /** @description the requested level */
            security_level: number;
            /** @description the smaller of the requested level and the generator's security strength */
            security_strength_bits: number;
            /**
             * Format: double
             * @description computational credit to the sources, times the 99 % bound of a defect screen on the share of ones: not the entropy of the key. About 254.8 of 256 is typical and no loss; 0 if no source is credited
             */
            entropy_bits: number;
            /**
             * Format: double
             * @description from acceptance of the request until key and proof are ready
             */
            latency_ms: number;
            /**
             * Format: date-time
             * @description ISO 8601 date-time with UTC offset
             * @example 2026-01-31T12:00:00.000+00:00
             */
            timestamp: string;
            /** @description entropy source of this key besides the operating system; os: no other */
            source: string;
            /** @description true if the provider of source says that it is quantum hardware; credited with 0 bits by default */
            quantum_hardware: boolean;
            /** @description IBM Quantum job whose output is in the reseed of this key, or null */
            entropy_job_id: string | null;
            /** @description names and values: at most 16. Names: 1 to 32 characters of a-z, 0-9, "_", "." and "-", the first a letter or digit. Values: at most 64 characters without characters that control lines or the direction of text. They are stored and shown: put no secret in them */
            labels?: {
                [key: string]: string;
            };
            /**
             * Format: date-time
             * @description ISO 8601 date-time with UTC offset
             * @example 2026-01-31T12:00:00.000+00:00
             */
            expires_at?: string;
            /** @description keyed proof that this service generated the key; does not reveal the key */
            hash_proof: string;
            nist_validation?: components["schemas"]["NistValidation"];
            /** @description label for existing clients: share of the tests passed, in per cent; with nist_validation */
            nist_score?: number;
            /**
             * @description label for existing clients: grade of nist_score; with nist_validation
             * @enum {string}
             */
            nist_grade?: "A" | "B" | "C" | "D" | "F";
            nist_report?: components["schemas"]["NistReport"];
            /** @description receipt for the key; null if no checkpoint covered its record within 2 s: receipt_url then returns it later */
            receipt?: components["schemas"]["Receipt"] | null;
            /** @description path of the receipt on this server, with its base path */
            receipt_url?: string;
            /** @description 32 random bytes that open key_commitment; shown once and never stored. Keep them as secret as the key */
            opening?: string;
        };
        /** BatchSealedKey */
        BatchSealedKey: {
            /** @description identifier of the key */
            key_id: string;
            /** @description the requested level */
            security_level: number;
            /** @description the smaller of the requested level and the generator's security strength */
            security_strength_bits: number;
            /**
             * Format: double
             * @description computational credit to the sources, times the 99 % bound of a defect screen on the share of ones: not the entropy of the key. About 254.8 of 256 is typical and no loss; 0 if no source is credited
             */
            entropy_bits: number;
            /**
             * Format: double
             * @description from acceptance of the request until key and proof are ready
             */
            latency_ms: number;
            /**
             * Format: date-time
             * @description ISO 8601 date-time with UTC offset
             * @example 2026-01-31T12:00:00.000+00:00
             */
            timestamp: string;
            /** @description entropy source of this key besides the operating system; os: no other */
            source: string;
            /** @description true if the provider of source says that it is quantum hardware; credited with 0 bits by default */
            quantum_hardware: boolean;
            /** @description IBM Quantum job whose output is in the reseed of this key, or null */
            entropy_job_id: string | null;
            /** @description names and values: at most 16. Names: 1 to 32 characters of a-z, 0-9, "_", "." and "-", the first a letter or digit. Values: at most 64 characters without characters that control lines or the direction of text. They are stored and shown: put no secret in them */
            labels?: {
                [key: string]: string;
            };
            /**
             * Format: date-time
             * @description ISO 8601 date-time with UTC offset
             * @example 2026-01-31T12:00:00.000+00:00
             */
            expires_at?: string;
            sealed_key?: components["schemas"]["SealedKey"];
            /** @description with several recipients or a delivery, instead of sealed_key: one for each, in the order of seal_to */
            sealed_keys?: components["schemas"]["SealedKey"][];
            delivery?: components["schemas"]["KeptDelivery"];
            nist_validation?: components["schemas"]["NistValidation"];
            /** @description label for existing clients: share of the tests passed, in per cent; with nist_validation */
            nist_score?: number;
            /**
             * @description label for existing clients: grade of nist_score; with nist_validation
             * @enum {string}
             */
            nist_grade?: "A" | "B" | "C" | "D" | "F";
            nist_report?: components["schemas"]["NistReport"];
            /** @description receipt for the key; null if no checkpoint covered its record within 2 s: receipt_url then returns it later */
            receipt?: components["schemas"]["Receipt"] | null;
            /** @description path of the receipt on this server, with its base path */
            receipt_url?: string;
        };
        /**
         * Checkpoint
         * @description signed note (c2sp.org/signed-note) with a checkpoint (c2sp.org/tlog-checkpoint)
         */
        Checkpoint: string;
        /**
         * CopyState
         * @description waiting: not fetched yet. received: fetched, and can be fetched again. removed, expired and revoked: gone. unknown: this recipient never had a copy
         * @enum {string}
         */
        CopyState: "waiting" | "received" | "removed" | "expired" | "revoked" | "unknown";
        /** Deliver */
        Deliver: {
            /** @description ID of the delivery: a lower-case UUID that the account has not used before */
            id: string;
            /** @description 32 bytes of your own in base64 (RFC 4648 §4), which every sealed copy and the receipt state: for example a digest of what the key is for */
            context?: string | null;
            /** @description how long the copies are kept: a number and s, m, h or d, from 60s to 7d. They expire with the key at the latest; default: 1h */
            for?: string | null;
        };
        /** DeliverBatch */
        DeliverBatch: {
            /** @description IDs of the deliveries, one for each key: lower-case UUIDs that the account has not used before */
            ids: string[];
            /** @description 32 bytes of your own in base64 (RFC 4648 §4), which every sealed copy and the receipt state: for example a digest of what the key is for */
            context?: string | null;
            /** @description how long the copies are kept: a number and s, m, h or d, from 60s to 7d. They expire with the key at the latest; default: 1h */
            for?: string | null;
        };
        /** DeliveredCopy */
        DeliveredCopy: {
            /** @description ID of the delivery, a lower-case UUID: `deliver.id` of the request for the key */
            delivery_id: string;
            /** @description identifier of the key */
            key_id: string;
            /**
             * Format: date-time
             * @description when the copies expire, ISO 8601 with UTC offset
             */
            until: string;
        };
        /**
         * DeliveriesRequest
         * @description `null` for an optional field means that the field is left out. Unknown fields are ignored with a warning; with `Prefer: handling=strict` they are errors.
         */
        DeliveriesRequest: {
            /** @description name of the recipient, as the operator registered it */
            recipient: string;
            /** @description IDs of deliveries, 1 to 100, all different */
            ids: string[];
        };
        /** Delivery */
        Delivery: {
            /** @description a UUID in lower case */
            id: string;
            /** @description null: nothing */
            context: string | null;
        };
        /** DeliveryCopyState */
        DeliveryCopyState: {
            /** @description ID of the delivery, a lower-case UUID: `deliver.id` of the request for the key */
            delivery_id: string;
            state: components["schemas"]["CopyState"];
        };
        /** DeliveryList */
        DeliveryList: {
            /** @description true: the call succeeded */
            success: boolean;
            /** @description the oldest key first */
            deliveries: components["schemas"]["DeliveredCopy"][];
            /** @description cursor of the next page; null at the end */
            next_cursor: string | null;
            /**
             * Format: date-time
             * @description ISO 8601 date-time with UTC offset
             * @example 2026-01-31T12:00:00.000+00:00
             */
            timestamp: string;
            /** @description unknown fields of the request, which were ignored: at most eight, then one entry that counts the others */
            warnings?: components["schemas"]["Warning"][];
        };
        /** DeliveryResult */
        DeliveryResult: {
            /** @description true: the call succeeded */
            success: boolean;
            delivery: components["schemas"]["DeliveryStates"];
            /**
             * Format: date-time
             * @description ISO 8601 date-time with UTC offset
             * @example 2026-01-31T12:00:00.000+00:00
             */
            timestamp: string;
            /** @description unknown fields of the request, which were ignored: at most eight, then one entry that counts the others */
            warnings?: components["schemas"]["Warning"][];
        };
        /** DeliveryStates */
        DeliveryStates: {
            /** @description ID of the delivery, a lower-case UUID: `deliver.id` of the request for the key */
            delivery_id: string;
            /** @description identifier of the key */
            key_id: string;
            /**
             * Format: date-time
             * @description when the copies expire, ISO 8601 with UTC offset
             */
            until: string;
            /** @description in the order of their names */
            recipients: components["schemas"]["StateAtRecipient"][];
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
        ErrorCode: "invalid_request" | "malformed_json" | "malformed_request" | "missing_api_key" | "invalid_api_key" | "insufficient_scope" | "address_not_allowed" | "account_suspended" | "sealed_only" | "recipient_not_registered" | "not_found" | "key_not_found" | "receipt_not_found" | "delivery_not_found" | "method_not_allowed" | "request_timeout" | "idempotency_in_progress" | "key_already_made" | "delivery_exists" | "delivery_box_full" | "delivery_gone" | "payload_too_large" | "batch_too_large" | "unsupported_media_type" | "expectation_failed" | "idempotency_key_reused" | "headers_too_large" | "rate_limited" | "quota_exceeded" | "internal_error" | "record_altered" | "method_not_implemented" | "unsupported_transfer_encoding" | "entropy_unavailable" | "ledger_unavailable" | "foreign_ledger" | "overloaded" | "unknown_plan" | "receipt_pending" | "log_stopped" | "http_version_not_supported";
        /** FetchResult */
        FetchResult: {
            /** @description true: the call succeeded */
            success: boolean;
            /** @description in the order of ids */
            deliveries: components["schemas"]["FetchedDelivery"][];
            /**
             * Format: date-time
             * @description ISO 8601 date-time with UTC offset
             * @example 2026-01-31T12:00:00.000+00:00
             */
            timestamp: string;
            /** @description unknown fields of the request, which were ignored: at most eight, then one entry that counts the others */
            warnings?: components["schemas"]["Warning"][];
        };
        /**
         * FetchedDelivery
         * @description With state received, it has the sealed key. With state unknown, it has no key_id.
         */
        FetchedDelivery: {
            /** @description ID of the delivery, a lower-case UUID: `deliver.id` of the request for the key */
            delivery_id: string;
            state: components["schemas"]["CopyState"];
            /** @description identifier of the key */
            key_id?: string;
            /**
             * Format: date-time
             * @description when the copies expire, ISO 8601 with UTC offset
             */
            until?: string;
            sealed_key?: components["schemas"]["SealedKey"];
            /** @description receipt for the key; null if the log does not give it now: receipt_url */
            receipt?: components["schemas"]["Receipt"] | null;
            /** @description path of the receipt on this server, with its base path */
            receipt_url?: string;
        };
        /** FieldError */
        FieldError: {
            /** @description "#/field" or "#/field/index" in the body, "?name" in the query */
            pointer: string;
            /** @description what the field must be, and what was received */
            message: string;
        };
        /**
         * GenerateBatchRequest
         * @description `null` for an optional field means that the field is left out. Unknown fields are ignored with a warning; with `Prefer: handling=strict` they are errors.
         */
        GenerateBatchRequest: {
            /** @description number of keys; at most 100 with nist_report or receipt in include */
            count: number;
            security_level: components["schemas"]["SecurityLevel"];
            /** @description run the SP 800-22 suite on the generator's output before modulation; the key is no better and takes longer; default: false */
            enable_nist_validation?: boolean | null;
            /** @description modulation type; changes neither strength nor entropy; default: phase */
            modulation_type?: components["schemas"]["ModulationType"] | null;
            /** @description entropy source mixed in besides the operating system; default: os */
            entropy_source?: components["schemas"]["EntropySource"] | null;
            /** @description names and values: at most 16. Names: 1 to 32 characters of a-z, 0-9, "_", "." and "-", the first a letter or digit. Values: at most 64 characters without characters that control lines or the direction of text. They are stored and shown: put no secret in them */
            labels?: {
                [key: string]: string;
            } | null;
            /** @description date-time with offset, in the future, from which validate calls the key invalid */
            expires_at?: string | null;
            /** @description extra fields of the response; nist_report needs enable_nist_validation, receipt a server with a transparency log */
            include?: ("hash_proof" | "nist_report" | "receipt")[] | null;
        };
        /**
         * GenerateRequest
         * @description `null` for an optional field means that the field is left out. Unknown fields are ignored with a warning; with `Prefer: handling=strict` they are errors.
         */
        GenerateRequest: {
            security_level: components["schemas"]["SecurityLevel"];
            /** @description run the SP 800-22 suite on the generator's output before modulation; the key is no better and takes longer; default: false */
            enable_nist_validation?: boolean | null;
            /** @description modulation type; changes neither strength nor entropy; default: phase */
            modulation_type?: components["schemas"]["ModulationType"] | null;
            /** @description entropy source mixed in besides the operating system; default: os */
            entropy_source?: components["schemas"]["EntropySource"] | null;
            /** @description names and values: at most 16. Names: 1 to 32 characters of a-z, 0-9, "_", "." and "-", the first a letter or digit. Values: at most 64 characters without characters that control lines or the direction of text. They are stored and shown: put no secret in them */
            labels?: {
                [key: string]: string;
            } | null;
            /** @description date-time with offset, in the future, from which validate calls the key invalid */
            expires_at?: string | null;
            /** @description extra fields of the response; nist_report needs enable_nist_validation, receipt a server with a transparency log */
            include?: ("hash_proof" | "nist_report" | "receipt")[] | null;
        };
        /**
         * GenerateSealedBatchRequest
         * @description `null` for an optional field means that the field is left out. Unknown fields are ignored with a warning; with `Prefer: handling=strict` they are errors.
         */
        GenerateSealedBatchRequest: {
            /** @description number of keys; at most 100 with nist_report or receipt in include, and with several recipients at most 1000 sealed keys */
            count: number;
            /** @description the recipient, or a list of one to eight; a list of one is the same as that one */
            seal_to: components["schemas"]["SealTo"] | components["schemas"]["SealTo"][];
            security_level: components["schemas"]["SecurityLevel"];
            /** @description run the SP 800-22 suite on the generator's output before modulation; the key is no better and takes longer; default: false */
            enable_nist_validation?: boolean | null;
            /** @description modulation type; changes neither strength nor entropy; default: phase */
            modulation_type?: components["schemas"]["ModulationType"] | null;
            /** @description entropy source mixed in besides the operating system; default: os */
            entropy_source?: components["schemas"]["EntropySource"] | null;
            /** @description names and values: at most 16. Names: 1 to 32 characters of a-z, 0-9, "_", "." and "-", the first a letter or digit. Values: at most 64 characters without characters that control lines or the direction of text. They are stored and shown: put no secret in them */
            labels?: {
                [key: string]: string;
            } | null;
            /** @description date-time with offset, in the future, from which validate calls the key invalid */
            expires_at?: string | null;
            /** @description extra fields of the response; nist_report needs enable_nist_validation, receipt a server with a transparency log */
            include?: ("nist_report" | "receipt")[] | null;
            /** @description keeps each sealed copy for its recipient, who fetches it. All recipients must be registered */
            deliver?: components["schemas"]["DeliverBatch"] | null;
        };
        /**
         * GenerateSealedRequest
         * @description `null` for an optional field means that the field is left out. Unknown fields are ignored with a warning; with `Prefer: handling=strict` they are errors.
         */
        GenerateSealedRequest: {
            /** @description the recipient, or a list of one to eight; a list of one is the same as that one */
            seal_to: components["schemas"]["SealTo"] | components["schemas"]["SealTo"][];
            security_level: components["schemas"]["SecurityLevel"];
            /** @description run the SP 800-22 suite on the generator's output before modulation; the key is no better and takes longer; default: false */
            enable_nist_validation?: boolean | null;
            /** @description modulation type; changes neither strength nor entropy; default: phase */
            modulation_type?: components["schemas"]["ModulationType"] | null;
            /** @description entropy source mixed in besides the operating system; default: os */
            entropy_source?: components["schemas"]["EntropySource"] | null;
            /** @description names and values: at most 16. Names: 1 to 32 characters of a-z, 0-9, "_", "." and "-", the first a letter or digit. Values: at most 64 characters without characters that control lines or the direction of text. They are stored and shown: put no secret in them */
            labels?: {
                [key: string]: string;
            } | null;
            /** @description date-time with offset, in the future, from which validate calls the key invalid */
            expires_at?: string | null;
            /** @description extra fields of the response; nist_report needs enable_nist_validation, receipt a server with a transparency log */
            include?: ("nist_report" | "receipt")[] | null;
            /** @description keeps each sealed copy for its recipient, who fetches it. All recipients must be registered */
            deliver?: components["schemas"]["Deliver"] | null;
        };
        /**
         * GeneratedKey
         * @description With enable_nist_validation the response also has nist_validation, nist_score and nist_grade; with receipt in include, it has receipt, receipt_url and opening.
         */
        GeneratedKey: {
            /** @description true: the call succeeded */
            success: boolean;
            /** @description identifier of the key */
            key_id: string;
            /** @description the key in lowercase hexadecimal; shown once and never stored */
            key: string;
            /** @description the requested level */
            security_level: number;
            /** @description the smaller of the requested level and the generator's security strength */
            security_strength_bits: number;
            /**
             * Format: double
             * @description computational credit to the sources, times the 99 % bound of a defect screen on the share of ones: not the entropy of the key. About 254.8 of 256 is typical and no loss; 0 if no source is credited
             */
            entropy_bits: number;
            /**
             * Format: double
             * @description from acceptance of the request until key and proof are ready
             */
            latency_ms: number;
            /**
             * Format: date-time
             * @description ISO 8601 date-time with UTC offset
             * @example 2026-01-31T12:00:00.000+00:00
             */
            timestamp: string;
            /** @description entropy source of this key besides the operating system; os: no other */
            source: string;
            /** @description true if the provider of source says that it is quantum hardware; credited with 0 bits by default */
            quantum_hardware: boolean;
            /** @description IBM Quantum job whose output is in the reseed of this key, or null */
            entropy_job_id: string | null;
            /** @description names and values: at most 16. Names: 1 to 32 characters of a-z, 0-9, "_", "." and "-", the first a letter or digit. Values: at most 64 characters without characters that control lines or the direction of text. They are stored and shown: put no secret in them */
            labels?: {
                [key: string]: string;
            };
            /**
             * Format: date-time
             * @description ISO 8601 date-time with UTC offset
             * @example 2026-01-31T12:00:00.000+00:00
             */
            expires_at?: string;
            /** @description keyed proof that this service generated the key; does not reveal the key */
            hash_proof: string;
            nist_validation?: components["schemas"]["NistValidation"];
            /** @description label for existing clients: share of the tests passed, in per cent; with nist_validation */
            nist_score?: number;
            /**
             * @description label for existing clients: grade of nist_score; with nist_validation
             * @enum {string}
             */
            nist_grade?: "A" | "B" | "C" | "D" | "F";
            nist_report?: components["schemas"]["NistReport"];
            /** @description receipt for the key; null if no checkpoint covered its record within 2 s: receipt_url then returns it later */
            receipt?: components["schemas"]["Receipt"] | null;
            /** @description path of the receipt on this server, with its base path */
            receipt_url?: string;
            /** @description 32 random bytes that open key_commitment; shown once and never stored. Keep them as secret as the key */
            opening?: string;
            /** @description unknown fields of the request, which were ignored: at most eight, then one entry that counts the others */
            warnings?: components["schemas"]["Warning"][];
        };
        /**
         * GeneratedSealedKey
         * @description The fields of GeneratedKey without key, hash_proof and opening: these are inside sealed_key, or inside each of sealed_keys.
         */
        GeneratedSealedKey: {
            /** @description true: the call succeeded */
            success: boolean;
            /** @description identifier of the key */
            key_id: string;
            /** @description the requested level */
            security_level: number;
            /** @description the smaller of the requested level and the generator's security strength */
            security_strength_bits: number;
            /**
             * Format: double
             * @description computational credit to the sources, times the 99 % bound of a defect screen on the share of ones: not the entropy of the key. About 254.8 of 256 is typical and no loss; 0 if no source is credited
             */
            entropy_bits: number;
            /**
             * Format: double
             * @description from acceptance of the request until key and proof are ready
             */
            latency_ms: number;
            /**
             * Format: date-time
             * @description ISO 8601 date-time with UTC offset
             * @example 2026-01-31T12:00:00.000+00:00
             */
            timestamp: string;
            /** @description entropy source of this key besides the operating system; os: no other */
            source: string;
            /** @description true if the provider of source says that it is quantum hardware; credited with 0 bits by default */
            quantum_hardware: boolean;
            /** @description IBM Quantum job whose output is in the reseed of this key, or null */
            entropy_job_id: string | null;
            /** @description names and values: at most 16. Names: 1 to 32 characters of a-z, 0-9, "_", "." and "-", the first a letter or digit. Values: at most 64 characters without characters that control lines or the direction of text. They are stored and shown: put no secret in them */
            labels?: {
                [key: string]: string;
            };
            /**
             * Format: date-time
             * @description ISO 8601 date-time with UTC offset
             * @example 2026-01-31T12:00:00.000+00:00
             */
            expires_at?: string;
            sealed_key?: components["schemas"]["SealedKey"];
            /** @description with several recipients or a delivery, instead of sealed_key: one for each, in the order of seal_to */
            sealed_keys?: components["schemas"]["SealedKey"][];
            delivery?: components["schemas"]["KeptDelivery"];
            nist_validation?: components["schemas"]["NistValidation"];
            /** @description label for existing clients: share of the tests passed, in per cent; with nist_validation */
            nist_score?: number;
            /**
             * @description label for existing clients: grade of nist_score; with nist_validation
             * @enum {string}
             */
            nist_grade?: "A" | "B" | "C" | "D" | "F";
            nist_report?: components["schemas"]["NistReport"];
            /** @description receipt for the key; null if no checkpoint covered its record within 2 s: receipt_url then returns it later */
            receipt?: components["schemas"]["Receipt"] | null;
            /** @description path of the receipt on this server, with its base path */
            receipt_url?: string;
            /** @description unknown fields of the request, which were ignored: at most eight, then one entry that counts the others */
            warnings?: components["schemas"]["Warning"][];
        };
        /** Health */
        Health: {
            /** @description true when healthy */
            success: boolean;
            /**
             * @description state of this server
             * @enum {string}
             */
            status: "ok" | "unavailable" | "draining";
            /** @description state of each check: entropy (ok, starting or unavailable), entropy:<source> (ok or unavailable), generator (ok, starting, unjudged or latched), ledger (ok, unavailable or foreign), master_secret (ok, incomplete or retired), transparency_log (forked or altered, only while it lets no key leave) and accepting (yes or no) */
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
         * KeptDelivery
         * @description with deliver: what the service keeps
         */
        KeptDelivery: {
            /** @description ID of the delivery */
            id: string;
            /**
             * Format: date-time
             * @description when the copies expire, ISO 8601 with UTC offset
             */
            until: string;
        };
        /** KeyBatch */
        KeyBatch: {
            /** @description true: the call succeeded */
            success: boolean;
            /**
             * Format: date-time
             * @description ISO 8601 date-time with UTC offset
             * @example 2026-01-31T12:00:00.000+00:00
             */
            timestamp: string;
            /** @description number of keys */
            count: number;
            /** @description the keys */
            keys: components["schemas"]["BatchKey"][];
            /** @description unknown fields of the request, which were ignored: at most eight, then one entry that counts the others */
            warnings?: components["schemas"]["Warning"][];
        };
        /** KeyEvidence */
        KeyEvidence: {
            /**
             * @description only a stream that passes the gate gives a key
             * @enum {string}
             */
            verdict: "PASS";
            tests_passed: number;
            total_tests: number;
            /** Format: double */
            gate_p_value: number;
        };
        /**
         * KeyInfo
         * @description what the ledger knows about a key; never the key
         */
        KeyInfo: {
            /** @description identifier of the key */
            key_id: string;
            status: components["schemas"]["KeyStatus"];
            /**
             * Format: date-time
             * @description ISO 8601 date-time with UTC offset
             * @example 2026-01-31T12:00:00.000+00:00
             */
            created_at: string;
            /** @description length of the key in bits */
            security_level: number;
            /** @description the smaller of the level and the generator's security strength; null if the service kept no log then */
            security_strength_bits: number | null;
            /** @description modulation type */
            modulation_type: string;
            /** @description entropy source besides the operating system; os: no other */
            source: string;
            /** @description the API key that asked for the key */
            api_key_id: string;
            /** @description result of the statistical suite; null for a plain key */
            evidence: components["schemas"]["KeyEvidence"] | null;
            /** @description thumbprint of the recipient in base64, as in receipts and sealed keys; of the first of several; null for a key that was returned in plaintext */
            sealed_to: string | null;
            /** @description thumbprints of all recipients, in the order of the request; empty for a key that was returned in plaintext */
            recipients: string[];
            /** @description null for a key without a delivery */
            delivery_id: string | null;
            /** @description names and values: at most 16. Names: 1 to 32 characters of a-z, 0-9, "_", "." and "-", the first a letter or digit. Values: at most 64 characters without characters that control lines or the direction of text. They are stored and shown: put no secret in them */
            labels: {
                [key: string]: string;
            };
            /** @description null: never */
            expires_at: string | null;
            /** @description null: not revoked */
            revoked_at: string | null;
            /** @description null: not revoked */
            revocation_reason: ("key_compromise" | "superseded" | "cessation_of_use" | "unspecified") | null;
            /** @description null for a key that was generated without a transparency log */
            receipt_url: string | null;
        };
        /** KeyInfoResult */
        KeyInfoResult: {
            /** @description true: the call succeeded */
            success: boolean;
            key: components["schemas"]["KeyInfo"];
            /**
             * Format: date-time
             * @description ISO 8601 date-time with UTC offset
             * @example 2026-01-31T12:00:00.000+00:00
             */
            timestamp: string;
            /** @description unknown fields of the request, which were ignored: at most eight, then one entry that counts the others */
            warnings?: components["schemas"]["Warning"][];
        };
        /** KeyList */
        KeyList: {
            /** @description true: the call succeeded */
            success: boolean;
            /** @description newest first; may be fewer than limit */
            keys: components["schemas"]["KeyInfo"][];
            /** @description cursor of the next page; null at the end. A page with fewer keys than limit, even none, can have one: a call reads at most 1,000 records */
            next_cursor: string | null;
            /**
             * Format: date-time
             * @description ISO 8601 date-time with UTC offset
             * @example 2026-01-31T12:00:00.000+00:00
             */
            timestamp: string;
            /** @description unknown fields of the request, which were ignored: at most eight, then one entry that counts the others */
            warnings?: components["schemas"]["Warning"][];
        };
        /**
         * KeyStatement
         * @description What the service asserts about a key. The entry of the log is the SHA-256 digest of its RFC 8785 form.
         */
        KeyStatement: {
            /**
             * @description type and version of the statement
             * @enum {string}
             */
            type: "phm-key-receipt/v1";
            /** @description origin of the transparency log */
            service: string;
            /** @description identifier of the key: `key_id` of generate */
            key_id: string;
            /**
             * Format: date-time
             * @description ISO 8601 date-time with UTC offset
             * @example 2026-01-31T12:00:00.000+00:00
             */
            time: string;
            /** @description length of the key in bits */
            security_level: number;
            security_strength_bits: number;
            /** @description HMAC-SHA-256 of the key under the opening */
            key_commitment: string;
            /** @description the verdict on a validated key; null for a plain key */
            evidence: components["schemas"]["StatementEvidence"] | null;
            /** @description modulation type */
            modulation: string;
            sources: components["schemas"]["StatementSource"][];
            /** @description SHA-256 of the record of the key in the ledger */
            row_digest: string;
            /** @description version of the service and digest of its sources */
            software: string;
            /** @description random bytes that keep the entry in the log from revealing the statement */
            salt: string;
            /** @description SHA-256 of the recipient's public key; null if the key was not sealed */
            sealed_to: string | null;
            /** @description SHA-256 of enc and ciphertext of the sealed key; null if the key was not sealed */
            sealed_digest: string | null;
        };
        /**
         * KeyStatementV2
         * @description What the service asserts about a key that is sealed to several recipients.
         */
        KeyStatementV2: {
            /**
             * @description type and version of the statement
             * @enum {string}
             */
            type: "phm-key-receipt/v2";
            /** @description origin of the transparency log */
            service: string;
            /** @description identifier of the key: `key_id` of generate */
            key_id: string;
            /**
             * Format: date-time
             * @description ISO 8601 date-time with UTC offset
             * @example 2026-01-31T12:00:00.000+00:00
             */
            time: string;
            /** @description length of the key in bits */
            security_level: number;
            security_strength_bits: number;
            /** @description HMAC-SHA-256 of the key under the opening */
            key_commitment: string;
            /** @description the verdict on a validated key; null for a plain key */
            evidence: components["schemas"]["StatementEvidence"] | null;
            /** @description modulation type */
            modulation: string;
            sources: components["schemas"]["StatementSource"][];
            /** @description SHA-256 of the record of the key in the ledger */
            row_digest: string;
            /** @description version of the service and digest of its sources */
            software: string;
            /** @description random bytes that keep the entry in the log from revealing the statement */
            salt: string;
            /** @description recipients and sealed keys, in the order of the request */
            sealed: components["schemas"]["StatedSeal"][];
            /** @description null: the service kept no sealed key for its recipient */
            delivery: components["schemas"]["Delivery"] | null;
        };
        /**
         * KeyStatus
         * @description state after SP 800-57 Part 1 §7: active; deactivated by its expiry or by a revocation; compromised by a revocation
         * @enum {string}
         */
        KeyStatus: "active" | "deactivated" | "compromised";
        /**
         * Latch
         * @description Present when a generator has proved defective. This process then generates no more keys until a restart.
         */
        Latch: {
            /**
             * @description what showed the defect: a self-test, failures of the gate (two in a row, or three within about 1,000 verdicts), a small bias or correlation over many samples, a biased sample, an exact test of a key, a repeated key or word, or an altered key
             * @enum {string}
             */
            cause: "self_test" | "gate" | "accumulated" | "screen" | "key_test" | "repeated_key" | "altered_key";
            /** @description the test that showed it */
            test: string;
        };
        /**
         * LogPolicy
         * @description verifier keys, witnesses and quorum (c2sp.org/tlog-policy)
         */
        LogPolicy: string;
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
            /** @description unknown fields of the request, which were ignored: at most eight, then one entry that counts the others */
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
            /** @description unknown fields of the request, which were ignored: at most eight, then one entry that counts the others */
            warnings?: components["schemas"]["Warning"][];
        };
        /**
         * ModulationType
         * @enum {string}
         */
        ModulationType: "phase" | "frequency" | "amplitude" | "none";
        /**
         * NistGate
         * @description the verdict of this service's rule, which releases a key and certifies nothing
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
            /** @description number of tests of both streams that enter; p_value is their smallest corrected_p times this number, at most 1 */
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
         * @description Full SP 800-22 report on 2^20 bits of the generator's output before modulation: nine segments after a reseed each, of which the last reseed is that of this key. The service stores only the p-values.
         */
        NistReport: {
            /**
             * Format: int64
             * @description n, the length of the sample: 2^20
             * @example 1048576
             */
            bits: number;
            /**
             * @description class probabilities: exact ones, or those of the NIST program
             * @enum {string}
             */
            constants: "exact" | "nist";
            /**
             * Format: double
             * @description significance level of one test: 0.01
             */
            alpha: number;
            /** @description the suite on the carrier, the generator's output before modulation */
            tests: components["schemas"]["NistTest"][];
            /** @description entries of "tests" that passed */
            tests_passed: number;
            /** @description entries of "tests" that are applicable */
            total_tests: number;
            /** @description quick tests on the modulated sample, which look for defects of the modulation and say nothing about the generator; empty with modulation_type none. They enter the gate and are not counted in tests_passed */
            modulation_tests: components["schemas"]["NistTest"][];
            gate: components["schemas"]["NistGate"];
            /** @description version of the definition of the tests and the gate; with it, the report can be checked against evidence.digest of the key's receipt */
            evidence_definition: number;
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
            /** @description false if the sample does not meet its conditions */
            applicable: boolean;
            /** @description why the test does not apply */
            reason?: string;
            /** @description parameters of the test, in the symbols of SP 800-22; pi: probabilities */
            parameters: {
                [key: string]: number | boolean | number[];
            };
            /** @description name of each p-value; empty if the test has only one */
            labels: string[];
            p_values: number[];
            /** @description the smallest p-value, corrected for their number */
            corrected_p: number | null;
            /** @description counts and statistics of the test; no bits of the sample */
            statistics: {
                [key: string]: number | boolean | number[];
            };
            /** @description true if corrected_p is at least alpha; null if not applicable */
            passed: boolean | null;
        };
        /** NistValidation */
        NistValidation: {
            /**
             * @description label for existing clients: PASS if the gate of this service passed on a sample. It certifies nothing. FAIL releases no key
             * @enum {string}
             */
            certification_status: "PASS" | "FAIL";
            /** @description tests passed by the generator's output before modulation */
            tests_passed: number;
            /** @description tests that applied to it */
            total_tests: number;
            /**
             * @description label for existing clients: CERTIFICATION_READY if every applicable test passed, REVIEW if a test failed, as in about one sound sample in eight. NIST certifies nothing by SP 800-22
             * @enum {string}
             */
            compliance_level: "CERTIFICATION_READY" | "REVIEW" | "NON_COMPLIANT";
        };
        /**
         * NistWeakestTest
         * @description the test with the smallest corrected_p among those that enter
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
             * @description mean of latency_ms; 0 without keys
             */
            average_latency_ms: number;
            /**
             * Format: double
             * @description share of judged streams that passed the gate; 1 without any
             */
            nist_compliance_rate: number;
            /**
             * Format: double
             * @description generate calls with a 5xx response / these calls plus the generated keys; 0 without any
             */
            error_rate: number;
        };
        /** Problem */
        Problem: {
            /** @description false: the call failed */
            success: boolean;
            /** @description `urn:phm:error:` and the code */
            type: string;
            /** @description what the code means; for people, may change */
            title: string;
            /** @description the HTTP status */
            status: number;
            /** @description what is wrong and what to do; for people, may change */
            detail: string;
            /** @description `urn:phm:request:` and the request ID */
            instance: string;
            code: components["schemas"]["ErrorCode"];
            /** @description where the service's documentation explains the code: a reference relative to the base URL, `docs/errors#` and the code */
            help: string;
            /** @description X-Request-Id of this request */
            request_id: string;
            /**
             * Format: date-time
             * @description ISO 8601 date-time with UTC offset
             * @example 2026-01-31T12:00:00.000+00:00
             */
            timestamp: string;
            errors?: components["schemas"]["FieldError"][];
            /** @description with key_already_made: the key of the first request */
            key_id?: string;
            /** @description with key_already_made: the keys of the first request, a batch, in its order */
            key_ids?: string[];
            /** @description in the order of ids */
            deliveries?: components["schemas"]["DeliveryCopyState"][];
            /** @description with batch_too_large: the largest count that the service accepts */
            max_count?: number;
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
            /** @description unknown fields of the request, which were ignored: at most eight, then one entry that counts the others */
            warnings?: components["schemas"]["Warning"][];
        };
        /** RandomnessRow */
        RandomnessRow: {
            stream: components["schemas"]["StreamName"];
            test: components["schemas"]["TestName"];
            /** @description name of the p-value within its test, as in nist_report; empty if the test has only one */
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
            /** @description upper end of that interval; null for fewer than 55 samples */
            proportion_max: number | null;
            /** @description fail if the histogram or the count of passed samples is less probable for a sound source than 0.01 divided by the number of all checks; null for fewer than 55 samples */
            verdict: ("pass" | "fail") | null;
            /** @description with include=p_values: one per key, oldest first */
            p_values?: (number | null)[];
        };
        /**
         * RandomnessSums
         * @description The samples of the caller's last validated keys, judged together (SP 800-22 §4.2). Keys of old releases, which ran the whole suite on the modulated stream, are left out.
         */
        RandomnessSums: {
            /** @description keys found */
            keys: number;
            /** @description when the oldest key was recorded; null without keys */
            first: string | null;
            /** @description when the newest key was recorded; null without keys */
            last: string | null;
            /**
             * Format: double
             * @description significance level of one test: 0.01
             */
            significance_level: number;
            /** @description one for each p-value: the 188 of the suite on the carrier, then the 4 of the tests on the modulated stream */
            rows: components["schemas"]["RandomnessRow"][];
        };
        /** Receipt */
        Receipt: {
            statement: components["schemas"]["KeyStatement"] | components["schemas"]["KeyStatementV2"];
            /** @description proof that the log holds the statement, as text of c2sp.org/tlog-proof@v1, with the signed checkpoint */
            proof: string;
        };
        /**
         * ReceiptRequest
         * @description `null` for an optional field means that the field is left out. Unknown fields are ignored with a warning; with `Prefer: handling=strict` they are errors.
         */
        ReceiptRequest: {
            /** @description identifier of the key: `key_id` in the header of the sealed key */
            key_id: string;
            /** @description commitment to the key: `key_commitment` in the header of the sealed key, 32 bytes in base64 (RFC 4648 §4) */
            key_commitment: string;
            /** @description seconds to wait for a receipt that is not ready. Absent: none */
            wait?: number | null;
        };
        /** ReceiptResult */
        ReceiptResult: {
            /** @description true: the call succeeded */
            success: boolean;
            receipt: components["schemas"]["Receipt"];
            /**
             * Format: date-time
             * @description ISO 8601 date-time with UTC offset
             * @example 2026-01-31T12:00:00.000+00:00
             */
            timestamp: string;
            /** @description unknown fields of the request, which were ignored: at most eight, then one entry that counts the others */
            warnings?: components["schemas"]["Warning"][];
        };
        /** RemoveResult */
        RemoveResult: {
            /** @description true: the call succeeded */
            success: boolean;
            /** @description in the order of ids */
            deliveries: components["schemas"]["DeliveryCopyState"][];
            /**
             * Format: date-time
             * @description ISO 8601 date-time with UTC offset
             * @example 2026-01-31T12:00:00.000+00:00
             */
            timestamp: string;
            /** @description unknown fields of the request, which were ignored: at most eight, then one entry that counts the others */
            warnings?: components["schemas"]["Warning"][];
        };
        /**
         * RevocationReason
         * @description key_compromise: others may have the key, it becomes compromised. superseded, cessation_of_use, unspecified: it becomes deactivated
         * @enum {string}
         */
        RevocationReason: "key_compromise" | "superseded" | "cessation_of_use" | "unspecified";
        /**
         * RevokeRequest
         * @description `null` for an optional field means that the field is left out. Unknown fields are ignored with a warning; with `Prefer: handling=strict` they are errors.
         */
        RevokeRequest: {
            reason: components["schemas"]["RevocationReason"];
        };
        /**
         * SealSuite
         * @enum {string}
         */
        SealSuite: "MLKEM768-X25519" | "ML-KEM-1024";
        /**
         * SealTo
         * @description who can open the keys: either public_key, with its suite, or recipient
         */
        SealTo: {
            /** @description type of a recipient file: the file of `phm recipient new` is a valid seal_to */
            type?: "phm-recipient/v1" | null;
            /** @description HPKE suite (RFC 9180, draft-ietf-hpke-pq) of public_key; default: MLKEM768-X25519 */
            suite?: components["schemas"]["SealSuite"] | null;
            /** @description the recipient's public key: the KEM's raw serialisation, 1,216 bytes for MLKEM768-X25519 and 1,568 for ML-KEM-1024, in base64url without padding */
            public_key?: string | null;
            /** @description name of a recipient that the operator has registered for the account, instead of suite and public_key */
            recipient?: string | null;
        };
        /**
         * SealedKey
         * @description a key that only the holder of the private key can open
         */
        SealedKey: {
            suite: components["schemas"]["SealSuite"];
            /** @description registered number of the KEM */
            kem_id: number;
            /** @description registered number of the KDF */
            kdf_id: number;
            /** @description registered number of the AEAD */
            aead_id: number;
            /** @description encapsulated secret, in base64url without padding */
            enc: string;
            /** @description key, hash_proof and opening, encrypted, in base64url without padding */
            ciphertext: string;
            /** @description canonical JSON of what is bound to the key: key_id, time, thumbprint of the public key, those of all recipients if there are several, key_commitment, in base64url without padding */
            header: string;
        };
        /** SealedKeyBatch */
        SealedKeyBatch: {
            /** @description true: the call succeeded */
            success: boolean;
            /**
             * Format: date-time
             * @description ISO 8601 date-time with UTC offset
             * @example 2026-01-31T12:00:00.000+00:00
             */
            timestamp: string;
            /** @description number of keys */
            count: number;
            /** @description the keys */
            keys: components["schemas"]["BatchSealedKey"][];
            /** @description unknown fields of the request, which were ignored: at most eight, then one entry that counts the others */
            warnings?: components["schemas"]["Warning"][];
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
            /** @description every step from start to end, aligned to UTC, including quiet ones */
            points: components["schemas"]["SeriesPoint"][];
        };
        /** SeriesLatency */
        SeriesLatency: {
            /**
             * Format: double
             * @description exact
             */
            mean: number;
            /** @description from a histogram: off by at most 9.1 %; null if the histogram lacks keys */
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
             * @description keys / length of the step; in the last step, the time that has passed, at least 1 s
             */
            keys_per_second: number;
            /**
             * Format: int64
             * @description metered requests: generated keys and validations
             */
            requests: number;
            /** @description from acceptance of the request until key and proof are ready; null without keys */
            latency_ms: components["schemas"]["SeriesLatency"] | null;
            /**
             * Format: int64
             * @description streams judged by the statistical suite
             */
            streams: number;
            /** @description share of streams that passed the gate; null without any */
            nist_compliance_rate: number | null;
            /**
             * Format: int64
             * @description generate calls with a 5xx response
             */
            failures: number;
            /** @description failures / (keys + failures); null without calls */
            error_rate: number | null;
        };
        /** StateAtRecipient */
        StateAtRecipient: {
            /** @description name of the recipient, as the operator registered it */
            recipient: string;
            /**
             * @description state of its copy
             * @enum {string}
             */
            state: "waiting" | "received" | "removed" | "expired" | "revoked";
            /** @description when the copy was fetched first; null if it was not */
            received_at: string | null;
        };
        /** StatedSeal */
        StatedSeal: {
            /** @description SHA-256 of enc and ciphertext of the sealed key */
            digest: string;
            /** @description SHA-256 of the recipient's public key */
            to: string;
        };
        /** StatementEvidence */
        StatementEvidence: {
            /** @description digest of the p-values, the gate and the version of their definition */
            digest: string;
            /**
             * @description verdict of the gate
             * @enum {string}
             */
            verdict: "PASS" | "FAIL";
            tests_passed: number;
            total_tests: number;
        };
        /** StatementSource */
        StatementSource: {
            /** @description entropy source of the reseeds before the key */
            name: string;
            /**
             * Format: double
             * @description entropy credited to it
             */
            credit_bits: number;
        };
        /**
         * StepMinutes
         * @description length of a step in minutes
         */
        StepMinutes: number & (1 | 5 | 15 | 60 | 360 | 1440);
        /**
         * StreamName
         * @description carrier: the generator's output before modulation; modulated: its output after modulation, from which keys are cut
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
             * @description API keys that are not revoked now
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
         * @description `null` for an optional field means that the field is left out. Unknown fields are ignored with a warning; with `Prefer: handling=strict` they are errors.
         */
        ValidateRequest: {
            /** @description the key to validate: 32, 64 or 96 lowercase hexadecimal digits */
            key: string;
            /** @description proof from generate; if it is absent or empty, the ledger decides */
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
             * @description six exact binomial tests, which bound the bias of the key and measure no entropy
             * @enum {string}
             */
            entropy_check: "passed" | "failed" | "skipped";
            /**
             * @description passed if the proof, or without one the ledger, confirms the key; "unconfirmed": the key belongs to a retired version of the master secret, and no record confirms it
             * @enum {string}
             */
            proof_verification: "passed" | "failed" | "skipped" | "unconfirmed";
            /**
             * @description state of a recognised key; valid is false unless it is active
             * @enum {string}
             */
            key_status?: "active" | "deactivated" | "compromised";
            /**
             * @description only for a key of a retired version of the master secret: the record of the key in the ledger, which then decides
             * @enum {string}
             */
            retired_secret?: "record_found" | "record_too_late" | "no_record";
            /** @description why the key is not valid, in one sentence for people; only if valid is false */
            reason?: string;
        };
        /** ValidationResult */
        ValidationResult: {
            /** @description true: the call succeeded */
            success: boolean;
            /** @description overall verdict: true if all three checks are good */
            valid: boolean;
            validation_details: components["schemas"]["ValidationDetails"];
            /**
             * Format: date-time
             * @description ISO 8601 date-time with UTC offset
             * @example 2026-01-31T12:00:00.000+00:00
             */
            timestamp: string;
            /** @description unknown fields of the request, which were ignored: at most eight, then one entry that counts the others */
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
        /** @description `handling=strict` (RFC 7240) refuses unknown fields of the body and the query with 400 `invalid_request`. Without it they are ignored, and `warnings` names them. */
        Prefer: string;
        /** @description Label of this request for repetitions: 1 to 255 visible ASCII characters, such as a new UUID, also in double quotes. The same request with the same value within 24 hours generates no second key (draft-ietf-httpapi-idempotency-key-header). */
        IdempotencyKey: string;
        /** @description Label of this request: 1 to 128 letters, digits, ".", "_" or "-". The response and the log repeat it. The service replaces a missing or unusable one. */
        RequestId: string;
    };
    requestBodies: never;
    headers: {
        /** @description Label of the request, as in the log. */
        "X-Request-Id": string;
        /**
         * @description The limits: q requests in w seconds. "rate" is the bucket of the API key, "quota" the month of the account (draft-ietf-httpapi-ratelimit-headers).
         * @example "rate";q=20;w=2, "quota";q=1000;w=2678400
         */
        "RateLimit-Policy": string;
        /**
         * @description What remains of the limits: r requests, and t seconds until they are whole again. `X-RateLimit-Limit`, `-Remaining` and `-Reset` repeat "rate".
         * @example "rate";r=19;t=1, "quota";r=999;t=43200
         */
        RateLimit: string;
        /**
         * @description `handling=strict` or `handling=lenient`, if `Prefer` of the request sets it.
         * @example handling=strict
         */
        "Preference-Applied": string;
        /**
         * @description Seconds to wait before the next attempt.
         * @example 1
         */
        "Retry-After": number;
        /**
         * @description `true` if the response is that of an earlier request with the same `Idempotency-Key`.
         * @example true
         */
        "Idempotent-Replayed": string;
        /**
         * @description Names the header for the API key.
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
                /** @description `handling=strict` (RFC 7240) refuses unknown fields of the body and the query with 400 `invalid_request`. Without it they are ignored, and `warnings` names them. */
                Prefer?: components["parameters"]["Prefer"];
                /** @description Label of this request: 1 to 128 letters, digits, ".", "_" or "-". The response and the log repeat it. The service replaces a missing or unusable one. */
                "X-Request-Id"?: components["parameters"]["RequestId"];
                /** @description Label of this request for repetitions: 1 to 255 visible ASCII characters, such as a new UUID, also in double quotes. The same request with the same value within 24 hours generates no second key (draft-ietf-httpapi-idempotency-key-header). */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        /** @description `null` for an optional field means that the field is left out. Unknown fields are ignored with a warning; with `Prefer: handling=strict` they are errors. */
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
            /** @description insufficient_scope: The API key lacks the scope of this operation; address_not_allowed: The API key cannot be used from this address; account_suspended: The account of this API key is suspended; sealed_only: This account generates sealed keys only */
            403: {
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
            /** @description idempotency_in_progress: A request with this Idempotency-Key is in progress; key_already_made: The first request with this Idempotency-Key has generated its key already */
            409: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "Preference-Applied": components["headers"]["Preference-Applied"];
                    /** @description Seconds to wait before the next attempt; with idempotency_in_progress. */
                    "Retry-After"?: number;
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
            /** @description unsupported_media_type: The media type of the body is not supported */
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
            /** @description idempotency_key_reused: This Idempotency-Key belongs to a different request */
            422: {
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
            /** @description rate_limited: Too many requests in a short time; quota_exceeded: The monthly quota does not cover the request */
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
            /** @description method_not_implemented: The method of the request is unknown; unsupported_transfer_encoding: The transfer encoding of the body is not supported */
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
            /** @description ledger_unavailable: The ledger cannot be used at present; foreign_ledger: The database holds the ledger of another service; overloaded: The service cannot take more work at present; unknown_plan: This server does not know the account's plan; entropy_unavailable: The random bit generator is not available */
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
            /** @description http_version_not_supported: The HTTP version of the request is not supported */
            505: {
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
        };
    };
    generateSealed: {
        parameters: {
            query?: never;
            header?: {
                /** @description `handling=strict` (RFC 7240) refuses unknown fields of the body and the query with 400 `invalid_request`. Without it they are ignored, and `warnings` names them. */
                Prefer?: components["parameters"]["Prefer"];
                /** @description Label of this request: 1 to 128 letters, digits, ".", "_" or "-". The response and the log repeat it. The service replaces a missing or unusable one. */
                "X-Request-Id"?: components["parameters"]["RequestId"];
                /** @description Label of this request for repetitions: 1 to 255 visible ASCII characters, such as a new UUID, also in double quotes. The same request with the same value within 24 hours generates no second key (draft-ietf-httpapi-idempotency-key-header). */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        /** @description `null` for an optional field means that the field is left out. Unknown fields are ignored with a warning; with `Prefer: handling=strict` they are errors. */
        requestBody: {
            content: {
                "application/json": components["schemas"]["GenerateSealedRequest"];
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
                    "Idempotent-Replayed": components["headers"]["Idempotent-Replayed"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["GeneratedSealedKey"];
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
            /** @description insufficient_scope: The API key lacks the scope of this operation; address_not_allowed: The API key cannot be used from this address; account_suspended: The account of this API key is suspended; recipient_not_registered: This account's keys are sealed to registered recipients only */
            403: {
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
            /** @description idempotency_in_progress: A request with this Idempotency-Key is in progress; delivery_exists: The account has used this ID for a delivery; delivery_box_full: The box of a recipient is full */
            409: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "Preference-Applied": components["headers"]["Preference-Applied"];
                    /** @description Seconds to wait before the next attempt; with idempotency_in_progress. */
                    "Retry-After"?: number;
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
            /** @description unsupported_media_type: The media type of the body is not supported */
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
            /** @description idempotency_key_reused: This Idempotency-Key belongs to a different request */
            422: {
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
            /** @description rate_limited: Too many requests in a short time; quota_exceeded: The monthly quota does not cover the request */
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
            /** @description method_not_implemented: The method of the request is unknown; unsupported_transfer_encoding: The transfer encoding of the body is not supported */
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
            /** @description ledger_unavailable: The ledger cannot be used at present; foreign_ledger: The database holds the ledger of another service; overloaded: The service cannot take more work at present; unknown_plan: This server does not know the account's plan; entropy_unavailable: The random bit generator is not available */
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
            /** @description http_version_not_supported: The HTTP version of the request is not supported */
            505: {
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
        };
    };
    generateBatch: {
        parameters: {
            query?: never;
            header?: {
                /** @description `handling=strict` (RFC 7240) refuses unknown fields of the body and the query with 400 `invalid_request`. Without it they are ignored, and `warnings` names them. */
                Prefer?: components["parameters"]["Prefer"];
                /** @description Label of this request: 1 to 128 letters, digits, ".", "_" or "-". The response and the log repeat it. The service replaces a missing or unusable one. */
                "X-Request-Id"?: components["parameters"]["RequestId"];
                /** @description Label of this request for repetitions: 1 to 255 visible ASCII characters, such as a new UUID, also in double quotes. The same request with the same value within 24 hours generates no second key (draft-ietf-httpapi-idempotency-key-header). */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        /** @description `null` for an optional field means that the field is left out. Unknown fields are ignored with a warning; with `Prefer: handling=strict` they are errors. */
        requestBody: {
            content: {
                "application/json": components["schemas"]["GenerateBatchRequest"];
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
                    "application/json": components["schemas"]["KeyBatch"];
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
            /** @description insufficient_scope: The API key lacks the scope of this operation; address_not_allowed: The API key cannot be used from this address; account_suspended: The account of this API key is suspended; sealed_only: This account generates sealed keys only */
            403: {
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
            /** @description idempotency_in_progress: A request with this Idempotency-Key is in progress; key_already_made: The first request with this Idempotency-Key has generated its key already */
            409: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "Preference-Applied": components["headers"]["Preference-Applied"];
                    /** @description Seconds to wait before the next attempt; with idempotency_in_progress. */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description payload_too_large: The request body is too large; batch_too_large: The batch has too many keys */
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
            /** @description unsupported_media_type: The media type of the body is not supported */
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
            /** @description idempotency_key_reused: This Idempotency-Key belongs to a different request */
            422: {
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
            /** @description rate_limited: Too many requests in a short time; quota_exceeded: The monthly quota does not cover the request */
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
            /** @description method_not_implemented: The method of the request is unknown; unsupported_transfer_encoding: The transfer encoding of the body is not supported */
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
            /** @description ledger_unavailable: The ledger cannot be used at present; foreign_ledger: The database holds the ledger of another service; overloaded: The service cannot take more work at present; unknown_plan: This server does not know the account's plan; entropy_unavailable: The random bit generator is not available */
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
            /** @description http_version_not_supported: The HTTP version of the request is not supported */
            505: {
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
        };
    };
    generateSealedBatch: {
        parameters: {
            query?: never;
            header?: {
                /** @description `handling=strict` (RFC 7240) refuses unknown fields of the body and the query with 400 `invalid_request`. Without it they are ignored, and `warnings` names them. */
                Prefer?: components["parameters"]["Prefer"];
                /** @description Label of this request: 1 to 128 letters, digits, ".", "_" or "-". The response and the log repeat it. The service replaces a missing or unusable one. */
                "X-Request-Id"?: components["parameters"]["RequestId"];
                /** @description Label of this request for repetitions: 1 to 255 visible ASCII characters, such as a new UUID, also in double quotes. The same request with the same value within 24 hours generates no second key (draft-ietf-httpapi-idempotency-key-header). */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        /** @description `null` for an optional field means that the field is left out. Unknown fields are ignored with a warning; with `Prefer: handling=strict` they are errors. */
        requestBody: {
            content: {
                "application/json": components["schemas"]["GenerateSealedBatchRequest"];
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
                    "Idempotent-Replayed": components["headers"]["Idempotent-Replayed"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SealedKeyBatch"];
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
            /** @description insufficient_scope: The API key lacks the scope of this operation; address_not_allowed: The API key cannot be used from this address; account_suspended: The account of this API key is suspended; recipient_not_registered: This account's keys are sealed to registered recipients only */
            403: {
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
            /** @description idempotency_in_progress: A request with this Idempotency-Key is in progress; delivery_exists: The account has used this ID for a delivery; delivery_box_full: The box of a recipient is full */
            409: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "Preference-Applied": components["headers"]["Preference-Applied"];
                    /** @description Seconds to wait before the next attempt; with idempotency_in_progress. */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description payload_too_large: The request body is too large; batch_too_large: The batch has too many keys */
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
            /** @description unsupported_media_type: The media type of the body is not supported */
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
            /** @description idempotency_key_reused: This Idempotency-Key belongs to a different request */
            422: {
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
            /** @description rate_limited: Too many requests in a short time; quota_exceeded: The monthly quota does not cover the request */
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
            /** @description method_not_implemented: The method of the request is unknown; unsupported_transfer_encoding: The transfer encoding of the body is not supported */
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
            /** @description ledger_unavailable: The ledger cannot be used at present; foreign_ledger: The database holds the ledger of another service; overloaded: The service cannot take more work at present; unknown_plan: This server does not know the account's plan; entropy_unavailable: The random bit generator is not available */
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
            /** @description http_version_not_supported: The HTTP version of the request is not supported */
            505: {
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
        };
    };
    validate: {
        parameters: {
            query?: never;
            header?: {
                /** @description `handling=strict` (RFC 7240) refuses unknown fields of the body and the query with 400 `invalid_request`. Without it they are ignored, and `warnings` names them. */
                Prefer?: components["parameters"]["Prefer"];
                /** @description Label of this request: 1 to 128 letters, digits, ".", "_" or "-". The response and the log repeat it. The service replaces a missing or unusable one. */
                "X-Request-Id"?: components["parameters"]["RequestId"];
            };
            path?: never;
            cookie?: never;
        };
        /** @description `null` for an optional field means that the field is left out. Unknown fields are ignored with a warning; with `Prefer: handling=strict` they are errors. */
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
            /** @description insufficient_scope: The API key lacks the scope of this operation; address_not_allowed: The API key cannot be used from this address; account_suspended: The account of this API key is suspended */
            403: {
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
            /** @description unsupported_media_type: The media type of the body is not supported */
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
            /** @description rate_limited: Too many requests in a short time; quota_exceeded: The monthly quota does not cover the request */
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
            /** @description method_not_implemented: The method of the request is unknown; unsupported_transfer_encoding: The transfer encoding of the body is not supported */
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
            /** @description ledger_unavailable: The ledger cannot be used at present; foreign_ledger: The database holds the ledger of another service; overloaded: The service cannot take more work at present; unknown_plan: This server does not know the account's plan */
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
            /** @description http_version_not_supported: The HTTP version of the request is not supported */
            505: {
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
        };
    };
    listKeys: {
        parameters: {
            query?: {
                /** @description most keys of the page, in decimal digits */
                limit?: number;
                /** @description `next_cursor` of the page before */
                cursor?: string;
                /** @description date-time with offset: keys of this time or later */
                created_after?: string;
                /** @description date-time with offset: keys before this time */
                created_before?: string;
                /** @description keys of this length in bits */
                security_level?: number;
                /** @description keys with this entropy source */
                source?: string;
                /** @description `name:value`; repeat it for several labels, all of which a key must have */
                label?: string[];
                /** @description PASS: keys with a validated stream; none: plain keys */
                evidence?: "PASS" | "none";
                /** @description keys that this API key asked for */
                api_key_id?: string;
                /** @description state after SP 800-57 Part 1 §7: active; deactivated by its expiry or by a revocation; compromised by a revocation */
                status?: components["schemas"]["KeyStatus"];
                /** @description date-time with offset: keys that expire before this time */
                expires_before?: string;
                /** @description true: revoked keys, for any reason; false: all others */
                revoked?: boolean;
            };
            header?: {
                /** @description `handling=strict` (RFC 7240) refuses unknown fields of the body and the query with 400 `invalid_request`. Without it they are ignored, and `warnings` names them. */
                Prefer?: components["parameters"]["Prefer"];
                /** @description Label of this request: 1 to 128 letters, digits, ".", "_" or "-". The response and the log repeat it. The service replaces a missing or unusable one. */
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
                    "application/json": components["schemas"]["KeyList"];
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
            /** @description insufficient_scope: The API key lacks the scope of this operation; address_not_allowed: The API key cannot be used from this address; account_suspended: The account of this API key is suspended */
            403: {
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
            /** @description method_not_implemented: The method of the request is unknown; unsupported_transfer_encoding: The transfer encoding of the body is not supported */
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
            /** @description ledger_unavailable: The ledger cannot be used at present; foreign_ledger: The database holds the ledger of another service; overloaded: The service cannot take more work at present; unknown_plan: This server does not know the account's plan */
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
            /** @description http_version_not_supported: The HTTP version of the request is not supported */
            505: {
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
        };
    };
    getKey: {
        parameters: {
            query?: never;
            header?: {
                /** @description `handling=strict` (RFC 7240) refuses unknown fields of the body and the query with 400 `invalid_request`. Without it they are ignored, and `warnings` names them. */
                Prefer?: components["parameters"]["Prefer"];
                /** @description Label of this request: 1 to 128 letters, digits, ".", "_" or "-". The response and the log repeat it. The service replaces a missing or unusable one. */
                "X-Request-Id"?: components["parameters"]["RequestId"];
            };
            path: {
                /** @description identifier of the key: `key_id` of generate */
                key_id: string;
            };
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
                    "application/json": components["schemas"]["KeyInfoResult"];
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
            /** @description insufficient_scope: The API key lacks the scope of this operation; address_not_allowed: The API key cannot be used from this address; account_suspended: The account of this API key is suspended */
            403: {
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
            /** @description key_not_found: The account has no record of this key */
            404: {
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
            /** @description method_not_implemented: The method of the request is unknown; unsupported_transfer_encoding: The transfer encoding of the body is not supported */
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
            /** @description ledger_unavailable: The ledger cannot be used at present; foreign_ledger: The database holds the ledger of another service; overloaded: The service cannot take more work at present; unknown_plan: This server does not know the account's plan */
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
            /** @description http_version_not_supported: The HTTP version of the request is not supported */
            505: {
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
        };
    };
    revokeKey: {
        parameters: {
            query?: never;
            header?: {
                /** @description `handling=strict` (RFC 7240) refuses unknown fields of the body and the query with 400 `invalid_request`. Without it they are ignored, and `warnings` names them. */
                Prefer?: components["parameters"]["Prefer"];
                /** @description Label of this request: 1 to 128 letters, digits, ".", "_" or "-". The response and the log repeat it. The service replaces a missing or unusable one. */
                "X-Request-Id"?: components["parameters"]["RequestId"];
            };
            path: {
                /** @description identifier of the key: `key_id` of generate */
                key_id: string;
            };
            cookie?: never;
        };
        /** @description `null` for an optional field means that the field is left out. Unknown fields are ignored with a warning; with `Prefer: handling=strict` they are errors. */
        requestBody: {
            content: {
                "application/json": components["schemas"]["RevokeRequest"];
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
                    "application/json": components["schemas"]["KeyInfoResult"];
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
            /** @description insufficient_scope: The API key lacks the scope of this operation; address_not_allowed: The API key cannot be used from this address; account_suspended: The account of this API key is suspended */
            403: {
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
            /** @description key_not_found: The account has no record of this key */
            404: {
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
            /** @description unsupported_media_type: The media type of the body is not supported */
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
            /** @description method_not_implemented: The method of the request is unknown; unsupported_transfer_encoding: The transfer encoding of the body is not supported */
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
            /** @description ledger_unavailable: The ledger cannot be used at present; foreign_ledger: The database holds the ledger of another service; overloaded: The service cannot take more work at present; unknown_plan: This server does not know the account's plan */
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
            /** @description http_version_not_supported: The HTTP version of the request is not supported */
            505: {
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
        };
    };
    listDeliveries: {
        parameters: {
            query: {
                /** @description name of the recipient, as the operator registered it */
                recipient: string;
                /** @description copies in this state. Absent: waiting */
                state?: "waiting" | "received";
                /** @description most copies of the page, in decimal digits */
                limit?: number;
                /** @description `next_cursor` of the page before */
                cursor?: string;
                /** @description seconds to wait for a copy if none is waiting, in decimal digits. Absent: none. Only with state waiting */
                wait?: number;
            };
            header?: {
                /** @description `handling=strict` (RFC 7240) refuses unknown fields of the body and the query with 400 `invalid_request`. Without it they are ignored, and `warnings` names them. */
                Prefer?: components["parameters"]["Prefer"];
                /** @description Label of this request: 1 to 128 letters, digits, ".", "_" or "-". The response and the log repeat it. The service replaces a missing or unusable one. */
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
                    "application/json": components["schemas"]["DeliveryList"];
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
            /** @description insufficient_scope: The API key lacks the scope of this operation; address_not_allowed: The API key cannot be used from this address; account_suspended: The account of this API key is suspended */
            403: {
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
            /** @description method_not_implemented: The method of the request is unknown; unsupported_transfer_encoding: The transfer encoding of the body is not supported */
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
            /** @description ledger_unavailable: The ledger cannot be used at present; foreign_ledger: The database holds the ledger of another service; overloaded: The service cannot take more work at present; unknown_plan: This server does not know the account's plan */
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
            /** @description http_version_not_supported: The HTTP version of the request is not supported */
            505: {
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
        };
    };
    fetchDeliveries: {
        parameters: {
            query?: never;
            header?: {
                /** @description `handling=strict` (RFC 7240) refuses unknown fields of the body and the query with 400 `invalid_request`. Without it they are ignored, and `warnings` names them. */
                Prefer?: components["parameters"]["Prefer"];
                /** @description Label of this request: 1 to 128 letters, digits, ".", "_" or "-". The response and the log repeat it. The service replaces a missing or unusable one. */
                "X-Request-Id"?: components["parameters"]["RequestId"];
            };
            path?: never;
            cookie?: never;
        };
        /** @description `null` for an optional field means that the field is left out. Unknown fields are ignored with a warning; with `Prefer: handling=strict` they are errors. */
        requestBody: {
            content: {
                "application/json": components["schemas"]["DeliveriesRequest"];
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
                    "application/json": components["schemas"]["FetchResult"];
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
            /** @description insufficient_scope: The API key lacks the scope of this operation; address_not_allowed: The API key cannot be used from this address; account_suspended: The account of this API key is suspended */
            403: {
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
            /** @description delivery_not_found: There is no such delivery */
            404: {
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
            /** @description delivery_gone: None of these copies can be fetched any more */
            410: {
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
            /** @description unsupported_media_type: The media type of the body is not supported */
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
            /** @description method_not_implemented: The method of the request is unknown; unsupported_transfer_encoding: The transfer encoding of the body is not supported */
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
            /** @description ledger_unavailable: The ledger cannot be used at present; foreign_ledger: The database holds the ledger of another service; overloaded: The service cannot take more work at present; unknown_plan: This server does not know the account's plan */
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
            /** @description http_version_not_supported: The HTTP version of the request is not supported */
            505: {
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
        };
    };
    removeDeliveries: {
        parameters: {
            query?: never;
            header?: {
                /** @description `handling=strict` (RFC 7240) refuses unknown fields of the body and the query with 400 `invalid_request`. Without it they are ignored, and `warnings` names them. */
                Prefer?: components["parameters"]["Prefer"];
                /** @description Label of this request: 1 to 128 letters, digits, ".", "_" or "-". The response and the log repeat it. The service replaces a missing or unusable one. */
                "X-Request-Id"?: components["parameters"]["RequestId"];
            };
            path?: never;
            cookie?: never;
        };
        /** @description `null` for an optional field means that the field is left out. Unknown fields are ignored with a warning; with `Prefer: handling=strict` they are errors. */
        requestBody: {
            content: {
                "application/json": components["schemas"]["DeliveriesRequest"];
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
                    "application/json": components["schemas"]["RemoveResult"];
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
            /** @description insufficient_scope: The API key lacks the scope of this operation; address_not_allowed: The API key cannot be used from this address; account_suspended: The account of this API key is suspended */
            403: {
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
            /** @description delivery_not_found: There is no such delivery */
            404: {
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
            /** @description unsupported_media_type: The media type of the body is not supported */
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
            /** @description method_not_implemented: The method of the request is unknown; unsupported_transfer_encoding: The transfer encoding of the body is not supported */
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
            /** @description ledger_unavailable: The ledger cannot be used at present; foreign_ledger: The database holds the ledger of another service; overloaded: The service cannot take more work at present; unknown_plan: This server does not know the account's plan */
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
            /** @description http_version_not_supported: The HTTP version of the request is not supported */
            505: {
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
        };
    };
    getDelivery: {
        parameters: {
            query?: never;
            header?: {
                /** @description `handling=strict` (RFC 7240) refuses unknown fields of the body and the query with 400 `invalid_request`. Without it they are ignored, and `warnings` names them. */
                Prefer?: components["parameters"]["Prefer"];
                /** @description Label of this request: 1 to 128 letters, digits, ".", "_" or "-". The response and the log repeat it. The service replaces a missing or unusable one. */
                "X-Request-Id"?: components["parameters"]["RequestId"];
            };
            path: {
                /** @description ID of the delivery, a lower-case UUID: `deliver.id` of the request for the key */
                delivery_id: string;
            };
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
                    "application/json": components["schemas"]["DeliveryResult"];
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
            /** @description insufficient_scope: The API key lacks the scope of this operation; address_not_allowed: The API key cannot be used from this address; account_suspended: The account of this API key is suspended */
            403: {
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
            /** @description delivery_not_found: There is no such delivery */
            404: {
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
            /** @description method_not_implemented: The method of the request is unknown; unsupported_transfer_encoding: The transfer encoding of the body is not supported */
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
            /** @description ledger_unavailable: The ledger cannot be used at present; foreign_ledger: The database holds the ledger of another service; overloaded: The service cannot take more work at present; unknown_plan: This server does not know the account's plan */
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
            /** @description http_version_not_supported: The HTTP version of the request is not supported */
            505: {
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
        };
    };
    receipt: {
        parameters: {
            query?: {
                /** @description seconds to wait for a receipt that is not ready, in decimal digits; at most once. Absent: none */
                wait?: number;
            };
            header?: {
                /** @description `handling=strict` (RFC 7240) refuses unknown fields of the body and the query with 400 `invalid_request`. Without it they are ignored, and `warnings` names them. */
                Prefer?: components["parameters"]["Prefer"];
                /** @description Label of this request: 1 to 128 letters, digits, ".", "_" or "-". The response and the log repeat it. The service replaces a missing or unusable one. */
                "X-Request-Id"?: components["parameters"]["RequestId"];
            };
            path: {
                /** @description identifier of the key: `key_id` of generate */
                key_id: string;
            };
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
                    "application/json": components["schemas"]["ReceiptResult"];
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
            /** @description insufficient_scope: The API key lacks the scope of this operation; address_not_allowed: The API key cannot be used from this address; account_suspended: The account of this API key is suspended */
            403: {
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
            /** @description receipt_not_found: There is no receipt for this key */
            404: {
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
            /** @description internal_error: The service met an unexpected error; record_altered: The record of this key differs from its entry in the transparency log */
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
            /** @description method_not_implemented: The method of the request is unknown; unsupported_transfer_encoding: The transfer encoding of the body is not supported */
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
            /** @description ledger_unavailable: The ledger cannot be used at present; foreign_ledger: The database holds the ledger of another service; overloaded: The service cannot take more work at present; unknown_plan: This server does not know the account's plan; receipt_pending: The receipt is not ready yet; log_stopped: The transparency log has stopped */
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
            /** @description http_version_not_supported: The HTTP version of the request is not supported */
            505: {
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
        };
    };
    receiptByCommitment: {
        parameters: {
            query?: never;
            header?: {
                /** @description `handling=strict` (RFC 7240) refuses unknown fields of the body and the query with 400 `invalid_request`. Without it they are ignored, and `warnings` names them. */
                Prefer?: components["parameters"]["Prefer"];
                /** @description Label of this request: 1 to 128 letters, digits, ".", "_" or "-". The response and the log repeat it. The service replaces a missing or unusable one. */
                "X-Request-Id"?: components["parameters"]["RequestId"];
            };
            path?: never;
            cookie?: never;
        };
        /** @description `null` for an optional field means that the field is left out. Unknown fields are ignored with a warning; with `Prefer: handling=strict` they are errors. */
        requestBody: {
            content: {
                "application/json": components["schemas"]["ReceiptRequest"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "Preference-Applied": components["headers"]["Preference-Applied"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ReceiptResult"];
                };
            };
            /** @description malformed_request: The request is not well-formed HTTP; invalid_request: The request is not valid; malformed_json: The request body is not valid JSON */
            400: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "Preference-Applied": components["headers"]["Preference-Applied"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description receipt_not_found: There is no receipt for this key */
            404: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "Preference-Applied": components["headers"]["Preference-Applied"];
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
                    "Preference-Applied": components["headers"]["Preference-Applied"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description unsupported_media_type: The media type of the body is not supported */
            415: {
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
            /** @description internal_error: The service met an unexpected error; record_altered: The record of this key differs from its entry in the transparency log */
            500: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "Preference-Applied": components["headers"]["Preference-Applied"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description method_not_implemented: The method of the request is unknown; unsupported_transfer_encoding: The transfer encoding of the body is not supported */
            501: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "Preference-Applied": components["headers"]["Preference-Applied"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description ledger_unavailable: The ledger cannot be used at present; foreign_ledger: The database holds the ledger of another service; overloaded: The service cannot take more work at present; receipt_pending: The receipt is not ready yet; log_stopped: The transparency log has stopped */
            503: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "Preference-Applied": components["headers"]["Preference-Applied"];
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description http_version_not_supported: The HTTP version of the request is not supported */
            505: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "Preference-Applied": components["headers"]["Preference-Applied"];
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
                /** @description length of the period in hours, in decimal digits; at most once */
                hours?: number;
            };
            header?: {
                /** @description `handling=strict` (RFC 7240) refuses unknown fields of the body and the query with 400 `invalid_request`. Without it they are ignored, and `warnings` names them. */
                Prefer?: components["parameters"]["Prefer"];
                /** @description Label of this request: 1 to 128 letters, digits, ".", "_" or "-". The response and the log repeat it. The service replaces a missing or unusable one. */
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
            /** @description insufficient_scope: The API key lacks the scope of this operation; address_not_allowed: The API key cannot be used from this address; account_suspended: The account of this API key is suspended */
            403: {
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
            /** @description method_not_implemented: The method of the request is unknown; unsupported_transfer_encoding: The transfer encoding of the body is not supported */
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
            /** @description ledger_unavailable: The ledger cannot be used at present; foreign_ledger: The database holds the ledger of another service; overloaded: The service cannot take more work at present; unknown_plan: This server does not know the account's plan */
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
            /** @description http_version_not_supported: The HTTP version of the request is not supported */
            505: {
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
        };
    };
    metricsSeries: {
        parameters: {
            query?: {
                /** @description length of the period in hours, in decimal digits; at most once */
                hours?: number;
                /** @description length of a step in minutes */
                step?: components["schemas"]["StepMinutes"];
            };
            header?: {
                /** @description `handling=strict` (RFC 7240) refuses unknown fields of the body and the query with 400 `invalid_request`. Without it they are ignored, and `warnings` names them. */
                Prefer?: components["parameters"]["Prefer"];
                /** @description Label of this request: 1 to 128 letters, digits, ".", "_" or "-". The response and the log repeat it. The service replaces a missing or unusable one. */
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
            /** @description insufficient_scope: The API key lacks the scope of this operation; address_not_allowed: The API key cannot be used from this address; account_suspended: The account of this API key is suspended */
            403: {
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
            /** @description method_not_implemented: The method of the request is unknown; unsupported_transfer_encoding: The transfer encoding of the body is not supported */
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
            /** @description ledger_unavailable: The ledger cannot be used at present; foreign_ledger: The database holds the ledger of another service; overloaded: The service cannot take more work at present; unknown_plan: This server does not know the account's plan */
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
            /** @description http_version_not_supported: The HTTP version of the request is not supported */
            505: {
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
        };
    };
    randomness: {
        parameters: {
            query?: {
                /** @description number of the last validated keys, in decimal digits; at most once */
                keys?: number;
                /** @description extra field of each row: its p-values; at most once */
                include?: "p_values";
            };
            header?: {
                /** @description `handling=strict` (RFC 7240) refuses unknown fields of the body and the query with 400 `invalid_request`. Without it they are ignored, and `warnings` names them. */
                Prefer?: components["parameters"]["Prefer"];
                /** @description Label of this request: 1 to 128 letters, digits, ".", "_" or "-". The response and the log repeat it. The service replaces a missing or unusable one. */
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
            /** @description insufficient_scope: The API key lacks the scope of this operation; address_not_allowed: The API key cannot be used from this address; account_suspended: The account of this API key is suspended */
            403: {
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
            /** @description method_not_implemented: The method of the request is unknown; unsupported_transfer_encoding: The transfer encoding of the body is not supported */
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
            /** @description ledger_unavailable: The ledger cannot be used at present; foreign_ledger: The database holds the ledger of another service; overloaded: The service cannot take more work at present; unknown_plan: This server does not know the account's plan */
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
            /** @description http_version_not_supported: The HTTP version of the request is not supported */
            505: {
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
        };
    };
    logCheckpoint: {
        parameters: {
            query?: never;
            header?: {
                /** @description Label of this request: 1 to 128 letters, digits, ".", "_" or "-". The response and the log repeat it. The service replaces a missing or unusable one. */
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
                    "text/plain": components["schemas"]["Checkpoint"];
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
            /** @description method_not_implemented: The method of the request is unknown; unsupported_transfer_encoding: The transfer encoding of the body is not supported */
            501: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description overloaded: The service cannot take more work at present; ledger_unavailable: The ledger cannot be used at present; foreign_ledger: The database holds the ledger of another service; log_stopped: The transparency log has stopped */
            503: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description http_version_not_supported: The HTTP version of the request is not supported */
            505: {
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
    logPolicy: {
        parameters: {
            query?: never;
            header?: {
                /** @description Label of this request: 1 to 128 letters, digits, ".", "_" or "-". The response and the log repeat it. The service replaces a missing or unusable one. */
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
                    "text/plain": components["schemas"]["LogPolicy"];
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
            /** @description method_not_implemented: The method of the request is unknown; unsupported_transfer_encoding: The transfer encoding of the body is not supported */
            501: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description overloaded: The service cannot take more work at present; ledger_unavailable: The ledger cannot be used at present; foreign_ledger: The database holds the ledger of another service; log_stopped: The transparency log has stopped */
            503: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description http_version_not_supported: The HTTP version of the request is not supported */
            505: {
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
    livez: {
        parameters: {
            query?: never;
            header?: {
                /** @description Label of this request: 1 to 128 letters, digits, ".", "_" or "-". The response and the log repeat it. The service replaces a missing or unusable one. */
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
            /** @description method_not_implemented: The method of the request is unknown; unsupported_transfer_encoding: The transfer encoding of the body is not supported */
            501: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description http_version_not_supported: The HTTP version of the request is not supported */
            505: {
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
                /** @description Label of this request: 1 to 128 letters, digits, ".", "_" or "-". The response and the log repeat it. The service replaces a missing or unusable one. */
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
            /** @description method_not_implemented: The method of the request is unknown; unsupported_transfer_encoding: The transfer encoding of the body is not supported */
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
            /** @description http_version_not_supported: The HTTP version of the request is not supported */
            505: {
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
    health: {
        parameters: {
            query?: never;
            header?: {
                /** @description Label of this request: 1 to 128 letters, digits, ".", "_" or "-". The response and the log repeat it. The service replaces a missing or unusable one. */
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
            /** @description method_not_implemented: The method of the request is unknown; unsupported_transfer_encoding: The transfer encoding of the body is not supported */
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
            /** @description http_version_not_supported: The HTTP version of the request is not supported */
            505: {
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
}
