/** Scopes of API keys: each route names the one that it needs. */
import type { FastifyInstance } from 'fastify';
import type { Scope } from '../ledger/index.ts';
import type { Authenticator } from './authenticate.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /**
     * The scope that the API key of a request needs, or several of which one is enough. A route without one says
     * `security: []` in its schema.
     */
    readonly scope?: Scope | readonly Scope[];
  }
}

/**
 * Lets a route with a `scope` check the API key before anything else that is its own, also below other prefixes. MUST run before
 * the routes are added. Adding a documented route throws if it neither has a scope nor says, by an empty `security`, that it
 * needs no API key.
 */
export function checkScopes(
  app: FastifyInstance,
  authenticator: Pick<Authenticator, 'check'>,
): void {
  app.addHook('onRoute', (route) => {
    const { url, schema, config, onRequest = [] } = route;
    if (config?.scope) {
      const scopes = [config.scope].flat();
      route.onRequest = [authenticator.check(scopes), ...[onRequest].flat()];
    } else if (!schema?.hide && schema?.security?.length !== 0) {
      throw new Error(`the route ${url} has no scope`);
    }
  });
}
