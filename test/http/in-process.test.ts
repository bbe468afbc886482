/**
 * Runs the tests of in-process/, which send requests to an application in their own process. They share the process, because
 * loading the application takes longer than most of the tests. Each module builds its own application and also runs
 * alone: `node test/http/in-process/raw.ts`.
 */
import './in-process/api-key-rules.ts';
import './in-process/base-path.ts';
import './in-process/client-address.ts';
import './in-process/bodies.ts';
import './in-process/clients-that-leave.ts';
import './in-process/clock.ts';
import './in-process/connections.ts';
import './in-process/cors.ts';
import './in-process/deliveries.ts';
import './in-process/document.ts';
import './in-process/generate.ts';
import './in-process/idempotency.ts';
import './in-process/json.ts';
import './in-process/key-answer.ts';
import './in-process/limit-headers.ts';
import './in-process/plans.ts';
import './in-process/log.ts';
import './in-process/messages.ts';
import './in-process/prefer.ts';
import './in-process/raw.ts';
import './in-process/readiness.ts';
import './in-process/receipts.ts';
import './in-process/refusals.ts';
import './in-process/request-lines.ts';
import './in-process/series.ts';
import './in-process/static.ts';
import './in-process/type.ts';
import './in-process/validation-reason.ts';
