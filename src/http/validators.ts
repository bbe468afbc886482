/**
 * The validators of request schemas, which Ajv compiles. To load Ajv and compile all schemas takes 50 ms (measured by
 * `bench/start.ts`), so it happens soon after the server listens, or with the first request that needs a validator.
 */
import { createRequire } from 'node:module';
import { setImmediate, setTimeout } from 'node:timers/promises';
import type { BuildCompilerFromPool as ValidatorFactory } from '@fastify/ajv-compiler';
import type { FastifyServerOptions } from 'fastify';

type CompilersFactory = NonNullable<
  NonNullable<FastifyServerOptions['schemaController']>['compilersFactory']
>;

/** The part of Ajv's validators that Fastify uses. */
interface Validator {
  (data: unknown): unknown;
  errors?: unknown;
}

/** The first requests, which may be health checks, go before. */
const PAUSE_MS = 200;

const require = createRequire(import.meta.url);

/** Validators of one application. */
export class Validators {
  /** Compile what is not compiled yet. */
  readonly #waiting: (() => void)[] = [];

  /** What Fastify compiles schemas with. */
  readonly compilers: CompilersFactory = {
    buildValidator: ((...settings: Parameters<ValidatorFactory>) => {
      let compiler: ReturnType<ValidatorFactory> | undefined;
      return (route: Parameters<ReturnType<ValidatorFactory>>[0]) =>
        this.#later(() => {
          compiler ??= loadAjv()(...settings);
          return compiler(route);
        });
    }) as unknown as ValidatorFactory,
    // Responses are written by the routes: as text, or as objects of the right form.
    buildSerializer: () => () => (data) => JSON.stringify(data),
  };

  /** Compiles all validators after a pause, each in its own turn of the event loop. */
  async prepare(pauseMs = PAUSE_MS): Promise<void> {
    await setTimeout(pauseMs, undefined, { ref: false });
    for (const compile of this.#waiting.splice(0)) {
      // One that did not hold the event loop would wait on an idle server until something else happens.
      await setImmediate();
      compile();
    }
  }

  #later(compile: () => Validator): Validator {
    let compiled: Validator | undefined;
    const validator = (): Validator => {
      compiled ??= compile();
      return compiled;
    };
    this.#waiting.push(validator);
    const validate: Validator = (data) => {
      const now = compiled ?? validator();
      const result = now(data);
      validate.errors = now.errors;
      return result;
    };
    return validate;
  }
}

function loadAjv(): ValidatorFactory {
  const AjvCompiler = require('@fastify/ajv-compiler') as () => ValidatorFactory;
  return AjvCompiler();
}
