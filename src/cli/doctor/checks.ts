/** The checks of `phm doctor` in their order. To add one, add a row. */
import { checkCertificate } from './certificate.ts';
import type { Check } from './check.ts';
import { checkConfiguration } from './configuration.ts';
import { checkClock, checkDatabase, checkSchema } from './database.ts';
import { checkDisk } from './disk.ts';
import { checkKernels, checkSources } from './generation.ts';
import { checkLimits } from './limits.ts';
import { checkLog } from './log.ts';
import { checkPermissions } from './permissions.ts';
import { checkPlans } from './plans.ts';
import { checkSecret } from './secret.ts';
import { checkServer } from './server.ts';
import { checkTls } from './tls.ts';

export const CHECKS: readonly Check[] = [
  { name: 'configuration', page: 'docs/configuration.md#variables', run: checkConfiguration },
  { name: 'permissions', page: 'docs/configuration.md#the-data-directory', run: checkPermissions },
  { name: 'clock', page: 'docs/incidents.md#a-wrong-clock', run: checkClock },
  { name: 'database', page: 'docs/incidents.md#a-lost-database', run: checkDatabase },
  { name: 'schema', page: 'docs/operations.md#upgrade', run: checkSchema },
  {
    name: 'master secret',
    page: 'docs/configuration.md#the-master-secret',
    // Above the limit of its command.
    limitMs: 70_000,
    run: checkSecret,
  },
  { name: 'plans', page: 'docs/configuration.md#plans', run: checkPlans },
  { name: 'log', page: 'docs/incidents.md#the-log-has-stopped', run: checkLog },
  { name: 'disk', page: 'docs/incidents.md#a-lost-database', run: checkDisk },
  { name: 'certificate', page: 'docs/configuration.md#tls', run: checkCertificate },
  { name: 'TLS', page: 'docs/configuration.md#tls-profiles', run: checkTls },
  { name: 'entropy sources', page: 'docs/configuration.md#entropy-sources', run: checkSources },
  { name: 'kernels', page: 'deploy/README.md', run: checkKernels },
  { name: 'limits', page: 'deploy/README.md#sizes', run: checkLimits },
  { name: 'server', page: 'docs/incidents.md#by-readyz', run: checkServer },
];
