/** Types of traces for the server, without the SDK. */
import type { IncomingMessage } from 'node:http';
import type { StageListener } from '../service/index.ts';

/** How a traced request ended. */
export interface RequestEnd {
  /** Template of the route; undefined for an unknown route. */
  readonly route: string | undefined;
  /** Undefined if the client left before its answer. */
  readonly status: number | undefined;
  /** Code of the problem answer, if any. */
  readonly problem: string | undefined;
  /** IDs of the account and of the API key, if the API key was valid. */
  readonly accountId?: string | undefined;
  readonly apiKeyId?: string | undefined;
}

/** The server span of one request. */
export interface RequestTrace {
  readonly traceId: string;
  /** Creates child spans; undefined if the request is not sampled. */
  readonly onStage: StageListener | undefined;
  /** Ends the span; only the first call counts. */
  end(how: RequestEnd): void;
}

export interface Tracing {
  begin(request: IncomingMessage, requestId: string): RequestTrace;
  /** Exports the remaining spans. Resolves with false if this took longer than `limitMs`. */
  close(limitMs: number): Promise<boolean>;
}

/** Called with the failure when the collector rejects traces, and with null when it accepts them again. */
export type ExportListener = (failure: string | null) => void;
