import { afterAll, afterEach } from 'vitest';
import { takeSeenAnswers, upstreamsAreNotOdd } from './described-answers.ts';
import { findAnswerErrors } from './find-answer-errors.ts';

// Runs beside every test: whatever a service of the test answered is measured against its description, and what its Responses surface answered
// against the specification of that.

const maxReported = 5;

function check(): void {
  const faults = [...new Set(takeSeenAnswers().flatMap(findAnswerErrors))];
  if (faults.length > 0) throw new Error(faults.slice(0, maxReported).join('\n'));
}

afterEach(check);
afterAll(check);
afterAll(upstreamsAreNotOdd);
