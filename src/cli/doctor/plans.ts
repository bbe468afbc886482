/** Checks that the configuration has the plan of each account, and the plans of the server that started last. */
import { havePlansChanged, unknownPlansProblem } from '../../setup/index.ts';
import { type Finding, failed, ok, warning } from './finding.ts';
import type { Site } from './site.ts';

export async function checkPlans(site: Site): Promise<Finding[]> {
  const { plans } = site.config;
  const store = await site.store();
  const problem = await unknownPlansProblem(store, plans);
  if (problem !== null) return [failed(problem)];
  if (await havePlansChanged(store, plans)) {
    return [
      warning(
        'the plans are not those of the server that started last',
        'give every server the same PHM_PLANS_FILE, and restart those that have another',
      ),
    ];
  }
  return [ok(`${[...plans.keys()].join(', ')}: the plan of every account is known`)];
}
