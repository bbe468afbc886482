/** The terms and records of keys, for commands that make no key: the front door also loads all tests of randomness. */
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
export { auditEntry, auditStatement, formatAuditId, keyEntry } from './statement.ts';
