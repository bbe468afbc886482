/**
 * What servers and commands do before a key service runs: read or create the master secret and the keys of the log, compare
 * them with the database, start a log, compare plans. Nothing here runs while keys are made.
 */

export { createLogKeys, readLogKeys } from './log-keys.ts';
export {
  checkMasterSecret,
  createMasterSecret,
  foreignSecretProblem,
  forgetMasterSecret,
  loadMasterSecret,
  readMasterSecret,
  rotateMasterSecret,
  unfitSecretProblem,
} from './master-secret.ts';
export {
  havePlansChanged,
  plansDetails,
  refuseUnknownPlans,
  unknownPlansProblem,
} from './plans.ts';
export { NO_LOG_KEYS, prepareLog, readWitnesses } from './prepare-log.ts';
export { type NewLog, startLog } from './start-log.ts';
