/** What the server knows of traces, without the SDK that makes them. */
import type { IncomingMessage } from 'node:http';
import type { StageListener } from '../service/index.ts';

/** How a traced request ended. */
export interface RequestEnd {
  /** A route's template; undefined when there is none. */
  readonly route: string | undefined;
  /** Undefined when the client left before its answer. */
  readonly status: number | undefined;
  /** The code of the problem that was answered, if one was. */
  readonly problem: string | undefined;
}

/** The server span of one request. */
export interface RequestTrace {
  readonly traceId: string;
  /** Makes child spans; undefined when the request is not sampled. */
  readonly onStage: StageListener | undefined;
  /** Ends the span; only the first call counts. */
  end(how: RequestEnd): void;
}

export interface Tracing {
  begin(request: IncomingMessage, requestId: string): RequestTrace;
  /** Exports what is left. False when that took longer than `limitMs` and was given up. */
  close(limitMs: number): Promise<boolean>;
}

/** Told when the collector takes no traces, and with null when it takes them again. */
export type ExportListener = (failure: string | null) => void;
