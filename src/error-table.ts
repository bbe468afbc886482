/**
 * Every failure that a caller can see, in one table.
 *
 * `http/wire/problem.ts` sends status, title and remedy; it replaces `{wait}` with the seconds to wait and `{request_id}`
 * with the request's id. `when`, `advice` and `retry` are Markdown for `docs/errors.md`. `npm run docs` writes the table
 * into that page, and the codes into the Python client and the exchanges of both clients.
 */
interface ErrorRow {
  readonly status: number;
  readonly title: string;
  readonly remedy: string;
  /** When the error occurs. */
  readonly when: string;
  /** What the caller should do. */
  readonly advice: string;
  /** Whether the same request can succeed later. The clients repeat a request for `yes` and `after a wait`. */
  readonly retry: Retry;
}

type Retry =
  | 'no'
  | 'yes'
  | 'once'
  | 'after a wait'
  | 'after a wait, which can be long'
  | 'after a wait, which can be weeks';

export const ERRORS = {
  invalid_request: {
    status: 400,
    title: 'The request is not valid',
    remedy: 'Correct the fields named in "errors" and send the request again.',
    when: 'A field is missing, or has a wrong type or a value that is not allowed, alone or with another field; or the body is not an object',
    advice: 'Correct the fields named in `errors`',
    retry: 'no',
  },
  malformed_json: {
    status: 400,
    title: 'The request body is not valid JSON',
    remedy: 'Send one JSON object as the body, encoded as UTF-8.',
    when: 'The body is missing, not UTF-8 or not JSON, repeats a name within an object, or encodes half of a surrogate pair in a `\\u` escape',
    advice: 'Send one JSON object in UTF-8',
    retry: 'no',
  },
  malformed_request: {
    status: 400,
    title: 'The request is not well-formed HTTP',
    remedy: 'Check the request line, the path and the headers of the request.',
    when: 'The request is not well-formed HTTP: for example, its target is not a path or URL or is wrongly encoded; `Host` is missing, repeated or malformed; or its length differs from the announced length',
    advice: 'Check request line, path and headers',
    retry: 'no',
  },
  missing_api_key: {
    status: 401,
    title: 'The request carries no API key',
    remedy: 'Send your API key in the X-API-Key header.',
    when: '`X-API-Key` is absent or empty',
    advice: 'Send the header',
    retry: 'no',
  },
  invalid_api_key: {
    status: 401,
    title: 'The API key is not valid',
    remedy:
      'Check the API key: it is mistyped, unknown or revoked. The operator can issue a new one.',
    when: 'The API key is mistyped, unknown, revoked or expired, its account is deleted, or it is a demo key that this server does not accept',
    advice: 'Check for typing errors, or ask the operator for a new API key',
    retry: 'no',
  },
  insufficient_scope: {
    status: 403,
    title: 'The API key lacks the scope of this operation',
    remedy:
      'Use an API key with that scope. The operator issues one with "phm api-key issue --scope".',
    when: 'The API key lacks the [scope](api.md#api-keys) of the operation. `detail` names it',
    advice: 'Use an API key with that scope',
    retry: 'no',
  },
  address_not_allowed: {
    status: 403,
    title: 'The API key cannot be used from this address',
    remedy:
      'Send the request from an address that the operator allowed for this API key, or ask the operator for another one.',
    when: 'The API key is limited to [other addresses](api.md#api-keys) than the one that the server sees. `detail` names that one',
    advice: 'Send the request from an allowed address',
    retry: 'no',
  },
  account_suspended: {
    status: 403,
    title: 'The account of this API key is suspended',
    remedy:
      'Ask the operator why: only the operator can resume the account, with "phm account resume". The keys of the account stay as they are, and its API keys then work again.',
    when: 'The operator has [suspended](operations.md#suspend-or-delete-an-account) the account of the API key. Nothing was generated, validated or counted',
    advice: 'Ask the operator. When the account is resumed, its API keys work again',
    retry: 'no',
  },
  sealed_only: {
    status: 403,
    title: 'This account generates sealed keys only',
    remedy:
      'Send the request to /api/v2/generate/sealed, or a batch to /api/v2/generate/sealed/batch, with "seal_to". The operator can lift the rule with "phm account set --sealed-only off".',
    when: 'The operator has set this account to sealed keys only, and the request asks for a key in plain text',
    advice:
      'Send the request to `/api/v2/generate/sealed` or `/api/v2/generate/sealed/batch`, with `seal_to`',
    retry: 'no',
  },
  recipient_not_registered: {
    status: 403,
    title: "This account's keys are sealed to registered recipients only",
    remedy:
      'Name a registered recipient: "seal_to": {"recipient": "<name>"}. The operator registers one with "phm recipient add", and can lift the rule with "phm account set --sealed-only on".',
    when: 'The operator has limited this account to its registered recipients, and `seal_to` has a public key',
    advice: 'Name a registered recipient in `seal_to`',
    retry: 'no',
  },
  not_found: {
    status: 404,
    title: 'There is no endpoint at this path',
    remedy:
      'Check the path: /docs lists the endpoints, below the base path if the server has one. The base URL of a client ' +
      'ends before /api/v2.',
    when: 'There is no endpoint at this path, for example because a base URL already ends in `/api/v2`',
    advice: 'See [`api.md`](api.md) or `/docs`',
    retry: 'no',
  },
  key_not_found: {
    status: 404,
    title: 'The account has no record of this key',
    remedy:
      'Check the key_id. An API key sees only keys that its own account generated, and as long as the ledger keeps their records.',
    when: '`key_id` is malformed, is unknown or belongs to another account, or the record was [pruned](ledger.md#retention)',
    advice: 'Check `key_id` and the API key',
    retry: 'no',
  },
  receipt_not_found: {
    status: 404,
    title: 'There is no receipt for this key',
    remedy:
      'Check the key_id. An API key reads only receipts for keys that its own account generated.',
    when: '`key_id` is malformed, is unknown or belongs to another account; or the server kept no [transparency log](receipts.md) when it generated this key. By [commitment](api.md#post-apiv2receipts): no key with a receipt has both',
    advice: 'Check `key_id`, and the API key or the commitment',
    retry: 'no',
  },
  delivery_not_found: {
    status: 404,
    title: 'There is no such delivery',
    remedy:
      'Check the IDs, the recipient and the API key. An ID is known as long as the ledger keeps the record of its key.',
    when: 'No ID is that of a [delivery](deliveries.md) to this recipient, or the account has none with the ID in the path',
    advice: 'Check IDs, recipient and API key',
    retry: 'no',
  },
  method_not_allowed: {
    status: 405,
    title: 'This path does not support this method',
    remedy: 'Use a method that the Allow header names.',
    when: 'The path does not support this method; or the method is CONNECT',
    advice: 'Use a method named in `Allow`',
    retry: 'no',
  },
  request_timeout: {
    status: 408,
    title: 'The request did not arrive in time',
    remedy: 'The server waited too long for the rest of the request. Send it without pauses.',
    when: 'The headers took longer than 15 s, or the whole request longer than 30 s',
    advice: 'Send the request without pauses',
    retry: 'yes',
  },
  idempotency_in_progress: {
    status: 409,
    title: 'A request with this Idempotency-Key is in progress',
    remedy: 'Send the same request again in {wait}, to get the outcome of the first one.',
    when: 'This server is still working on another request of the account with the same `Idempotency-Key`',
    advice: 'Send the same request again',
    retry: 'after a wait',
  },
  key_already_made: {
    status: 409,
    title: 'The first request with this Idempotency-Key has generated its key already',
    remedy:
      'The key is not stored, so it cannot be sent again, and no second one was generated. If the first response is lost, discard the key_id and generate a new key with a new Idempotency-Key. Sealed keys can be sent again.',
    when: 'An earlier request with this `Idempotency-Key` generated its key in plain text. The key cannot be sent again, and no second one was generated. `key_id`, for a batch `key_ids`, names it',
    advice:
      'If you never got the first response, discard this `key_id` and generate a new key with a new `Idempotency-Key`',
    retry: 'no',
  },
  delivery_exists: {
    status: 409,
    title: 'The account has used this ID for a delivery',
    remedy:
      'Use a new UUID for each delivery. To repeat a request, send it again with its Idempotency-Key.',
    when: 'An earlier request of the account used an ID of `deliver`. `errors` names the places',
    advice: 'Use a new UUID for each delivery; repeat a request with its `Idempotency-Key`',
    retry: 'no',
  },
  delivery_box_full: {
    status: 409,
    title: 'The box of a recipient is full',
    remedy:
      'Let the recipient fetch and remove copies that wait, or wait until they expire. No key was generated.',
    when: 'A recipient has too many [copies](deliveries.md#limits), or too many bytes of them. `detail` names the recipient',
    advice: 'Let the recipient remove copies',
    retry: 'no',
  },
  delivery_gone: {
    status: 410,
    title: 'None of these copies can be fetched any more',
    remedy:
      '"deliveries" says why: they are removed or expired, or their keys are revoked. Ask for another key.',
    when: 'Every copy that this recipient had is removed, expired or revoked. `deliveries` has the states',
    advice: 'Use another key',
    retry: 'no',
  },
  payload_too_large: {
    status: 413,
    title: 'The request body is too large',
    remedy: 'Send a body of at most 32,768 bytes.',
    when: 'The body is larger than 32,768 bytes',
    advice: 'Send a smaller body',
    retry: 'no',
  },
  batch_too_large: {
    status: 413,
    title: 'The batch has too many keys',
    remedy: 'Send a smaller "count", and the rest in further requests.',
    when: 'The keys of the batch cannot be generated in time, or their response would be too large to keep for its `Idempotency-Key`, or would have over 1,000 sealed keys. `max_count` is the largest `count` that fits',
    advice: 'Send several batches',
    retry: 'no',
  },
  unsupported_media_type: {
    status: 415,
    title: 'The media type of the body is not supported',
    remedy: 'Send a JSON body with the header Content-Type: application/json.',
    when: '`Content-Type` is missing, is not `application/json` or names a charset other than UTF-8, or the body is compressed',
    advice: 'Send that header and an uncompressed body',
    retry: 'no',
  },
  expectation_failed: {
    status: 417,
    title: 'The expectation in the Expect header cannot be met',
    remedy: 'Omit the Expect header, or send "100-continue".',
    when: '`Expect` is not `100-continue`',
    advice: 'Omit the header',
    retry: 'no',
  },
  idempotency_key_reused: {
    status: 422,
    title: 'This Idempotency-Key belongs to a different request',
    remedy:
      'Send a new Idempotency-Key with a new request. Repeat an old one only with the same method, path and fields.',
    when: 'An earlier request of the account used this `Idempotency-Key` with another method, path or body',
    advice: 'Use a new `Idempotency-Key` for each new request',
    retry: 'no',
  },
  headers_too_large: {
    status: 431,
    title: 'The request headers are too large',
    remedy: 'Keep the request line and all headers within 16 KiB together.',
    when: 'The headers are larger than 16 KiB',
    advice: 'Send fewer or shorter headers',
    retry: 'no',
  },
  rate_limited: {
    status: 429,
    title: 'Too many requests in a short time',
    remedy: 'Send requests at a lower rate, and try again in {wait}.',
    when: 'This API key has used up its [burst](api.md#limits) on this server, or too much of it for a batch, or an address has sent too many requests without a valid API key',
    advice: 'Slow down; check the API key',
    retry: 'after a wait',
  },
  quota_exceeded: {
    status: 429,
    title: 'The monthly quota does not cover the request',
    remedy:
      "The account has used its plan's requests for this month. Wait for the next calendar month (UTC), or move to a larger plan.",
    when: "The account has used its plan's requests for this UTC calendar month, or the API key its [own limit](api.md#api-keys). Or a batch takes more than remain",
    advice: 'Wait for the next month, change the plan, or send a smaller batch',
    retry: 'after a wait, which can be weeks',
  },
  internal_error: {
    status: 500,
    title: 'The service met an unexpected error',
    remedy: 'Try again. If the error persists, give the request ID {request_id} to the operator.',
    when: 'The service met an unexpected error. Its text is not shown',
    advice:
      'Try again (the clients do so only with an [`Idempotency-Key`](api.md#safe-retry)); if it persists, report the request ID',
    retry: 'once',
  },
  record_altered: {
    status: 500,
    title: 'The record of this key differs from its entry in the transparency log',
    remedy:
      'No receipt can be issued for it. Give the request ID {request_id} to the operator, who must find out who changed the record.',
    when: "The ledger's record of the key differs from its entry in the transparency log: the record was changed",
    advice: 'Report the request ID to the operator',
    retry: 'no',
  },
  method_not_implemented: {
    status: 501,
    title: 'The method of the request is unknown',
    remedy: 'Use GET, HEAD, POST or OPTIONS, in upper case.',
    when: 'The method is none that HTTP knows, or not in upper case. A known method at the wrong path is 405',
    advice: 'Use `GET`, `HEAD`, `POST` or `OPTIONS`',
    retry: 'no',
  },
  unsupported_transfer_encoding: {
    status: 501,
    title: 'The transfer encoding of the body is not supported',
    remedy:
      'Send the body with Content-Length, or with Transfer-Encoding: chunked and nothing else.',
    when: '`Transfer-Encoding` names anything other than `chunked`',
    advice: 'Send the body with `Content-Length`, or with `Transfer-Encoding: chunked` alone',
    retry: 'no',
  },
  entropy_unavailable: {
    status: 503,
    title: 'The random bit generator is not available',
    remedy:
      'No key was released, because an entropy source or the generator cannot be used at present. Try again in {wait}.',
    when: 'An entropy source has no output, the generator failed a test and is out of service, or the suite does not respond. No key was released',
    advice: 'Wait; if it persists, the operator must check the server',
    retry: 'after a wait',
  },
  ledger_unavailable: {
    status: 503,
    title: 'The ledger cannot be used at present',
    remedy:
      'The database cannot be used at present, so no key and no verdict was released. Try again in {wait}.',
    when: 'The database cannot record or read what the request needs; this server lacks the version of the master secret that it needs; its current version is retired; the [log](receipts.md) lets [no key leave](api.md#health); or a proxy [got no response](#answers-of-a-proxy)',
    advice:
      'Wait; if `Retry-After` is 60, tell the operator, who must change something at the database or restart the server',
    retry: 'after a wait',
  },
  foreign_ledger: {
    status: 503,
    title: 'The database holds the ledger of another service',
    remedy:
      'The address of the database leads to another ledger than the one of this server, so nothing was read, released or changed. Tell the operator, and try again in {wait}.',
    when: 'The address of the database leads to [another ledger](ledger.md#one-ledger) than the one that this server started with. Nothing was read, released or counted',
    advice: 'Wait; the operator must put the ledger back',
    retry: 'after a wait',
  },
  overloaded: {
    status: 503,
    title: 'The service cannot take more work at present',
    remedy: 'The service is busy. Try again in {wait}.',
    when: 'The queues are full, your account has [too many requests in progress](api.md#limits), too many reads of the [transparency log](receipts.md) are in progress, or [all connections](operations.md#connections) of the server are in use, or [its proxy](#answers-of-a-proxy) finds no server',
    advice: 'Wait',
    retry: 'after a wait',
  },
  unknown_plan: {
    status: 503,
    title: "This server does not know the account's plan",
    remedy:
      'Tell the operator: the plan of the account is missing from the file in PHM_PLANS_FILE of this server. "phm account set-plan" moves the account to another plan.',
    when: "This server's [plans](configuration.md#plans) lack the plan of the account. Requests of other accounts are served",
    advice: 'The operator must add the plan, or move the account',
    retry: 'after a wait, which can be long',
  },
  receipt_pending: {
    status: 503,
    title: 'The receipt is not ready yet',
    remedy:
      'The record of this key is durable, but no published checkpoint covers it yet. Try again in {wait}.',
    when: 'The key has its record, but no published checkpoint covers the record yet, or too few [witnesses](receipts.md#witnesses) have cosigned one',
    advice: 'Wait',
    retry: 'after a wait',
  },
  log_stopped: {
    status: 503,
    title: 'The transparency log has stopped',
    remedy:
      'The log publishes nothing until the operator has checked it. Keys get their receipts later.',
    when: 'The [transparency log](receipts.md) has stopped, because its state does not agree with the database. Keys are generated as before, unless the log has [forked or was altered](api.md#health)',
    advice: 'The operator must check the log',
    retry: 'after a wait, which can be long',
  },
  http_version_not_supported: {
    status: 505,
    title: 'The HTTP version of the request is not supported',
    remedy: 'Send the request with HTTP/1.1.',
    when: 'The request line names another version than HTTP/1.1 or HTTP/1.0, as with HTTP/2 without TLS',
    advice: 'Use HTTP/1.1',
    retry: 'no',
  },
} as const satisfies Record<string, ErrorRow>;

export type ErrorCode = keyof typeof ERRORS;
