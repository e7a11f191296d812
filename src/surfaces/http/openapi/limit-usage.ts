import { buildObject, type NamedSchema } from './operation.ts';

const text = { type: 'string' };

/** Usage of one limit of a project, a key, or a user. */
export const limitUsage: NamedSchema = {
  name: 'LimitUsage',
  schema: buildObject(
    {
      of: { ...text, description: 'The scope that is counted: `project:…`, `key:…`, or `user:…`.' },
      window: {
        ...text,
        description: 'Kind and period, such as `cost.month`. A limit of one deployment also names it, such as `tokens.day:gpt`.',
      },
      limit: { type: 'number', description: 'Tokens, requests, USD, or calls in progress.' },
      used: { type: 'number' },
      reserved: { type: 'number', description: 'Amount reserved for calls in progress. Absent if it is 0.' },
      remaining: { type: 'number' },
      resetsAt: { type: 'integer', description: 'Milliseconds since the epoch. Absent for calls in progress.' },
    },
    ['reserved', 'resetsAt', 'of'],
  ),
};
