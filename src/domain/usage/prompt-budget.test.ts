import { expect, it } from 'vitest';
import { computePromptBudget } from './prompt-budget.ts';

const request = { messages: [] };

it.each([
  [{ maxPromptTokens: 6_000 }, {}, undefined, 5_400],
  [{ maxPromptTokens: 6_000 }, {}, 1_000, 5_000],
  [{ maxPromptTokens: 6_000 }, {}, 6_000, 1_500],
  [{ maxTotalTokens: 8_000 }, {}, 0, 6_000],
  [{ maxTotalTokens: 128_000 }, {}, 0, 123_904],
  [{ maxTotalTokens: 8_000, maxCompletionTokens: 1_000 }, {}, 0, 7_000],
  [{ maxTotalTokens: 8_000 }, { max_tokens: 500 }, 0, 7_500],
  [{ maxTotalTokens: 8_000, maxPromptTokens: 7_000 }, { max_tokens: 500 }, 0, 7_000],
  [{}, {}, undefined, undefined],
])('computePromptBudget() for limits %j, request %j, and %s reserved tokens returns %s', (limits, asked, reserved, budget) => {
  expect(computePromptBudget({ limits }, { ...request, ...asked }, reserved)).toBe(budget);
});
