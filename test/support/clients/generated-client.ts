/** The output that a program with a generated client must print, and the server that it calls. */
import assert from 'node:assert/strict';
import { DEMO_KEY, Server } from '../servers/server.ts';

/** What the program read from named types. */
interface Printed {
  readonly security_level: number;
  readonly tests_passed: number;
  readonly valid: boolean;
  readonly proof_verification: string;
  readonly total_keys_generated: number;
  readonly problems: readonly unknown[];
}

/** Arguments of every program: the service's address and a rate-limited API key. */
export const argumentsFor = ({ address }: Server): [string, string] => [address, DEMO_KEY];

/** A server with rate limits, and with a source that every health test refuses. */
export function startForClients(dataDir: string): Promise<Server> {
  return Server.start(dataDir, {
    PHM_ENTROPY_SOURCES: 'os,device',
    PHM_DEVICE_PATH: '/dev/zero',
    PHM_DEVICE_MIN_ENTROPY: '1',
  });
}

/** Asserts that the program has read every answer and every problem. */
export function assertPrinted(output: string): void {
  const { tests_passed, total_keys_generated, ...printed } = JSON.parse(output) as Printed;
  // No tighter bound: a sound stream passes 11 or fewer of its tests once in 170 runs.
  assert.ok(tests_passed >= 1 && tests_passed <= 15, `${tests_passed} tests passed`);
  assert.ok(total_keys_generated >= 1);
  assert.deepEqual(printed, {
    security_level: 256,
    valid: true,
    proof_verification: 'passed',
    problems: [
      { status: 400, code: 'invalid_request', pointers: ['#/security_level'] },
      { status: 401, code: 'invalid_api_key', pointers: [] },
      { status: 503, code: 'entropy_unavailable', pointers: [] },
      { status: 429, code: 'rate_limited', pointers: [] },
    ],
  });
}
