/** Schemas of labels and expiry. */
import { LABEL_NAME, LABEL_VALUE, MAX_LABELS } from '../../keys/index.ts';
import { leavable } from './schemas.ts';
import { Type } from './type.ts';

export const Labels = Type.Record(Type.String(), Type.String(), {
  description: `names and values: at most ${MAX_LABELS}. Names: ${LABEL_NAME}. Values: ${LABEL_VALUE}. They are stored and shown: put no secret in them`,
});

/** Fields of every body that asks for keys. */
export const END_FIELDS = {
  labels: leavable(Labels),
  expires_at: leavable(
    Type.String({
      maxLength: 40,
      description:
        'date-time with offset, in the future, from which validate calls the key invalid',
      examples: ['2027-01-31T12:00:00Z'],
    }),
  ),
};
