/** The terms of keys, for commands that ask for keys and make none: the front door also loads all tests of randomness. */
export { formatDeliveryId, parseDeliveryId } from './delivery-id.ts';
export { formatKeyId, parseKeyId } from './key-id.ts';
export { KEY_STATUSES, keyStatus } from './key-status.ts';
export {
  isLabelName,
  isLabelValue,
  LABEL_NAME,
  LABEL_VALUE,
  MAX_LABELS,
} from './labels.ts';
export { SECURITY_LEVELS } from './order.ts';
export { auditStatement, formatAuditId } from './statement.ts';
