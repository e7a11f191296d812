import { afterAll, afterEach } from 'vitest';
import { requireConformingUpstreams, takeRecordedAnswers } from './described-answers.ts';
import { findAnswerErrors } from './find-answer-errors.ts';

// Setup of every test file. Checks each response of a test service against the description of the service, and each response of
// the Responses surface against its specification.

const maxReported = 5;

function check(): void {
  const errors = [...new Set(takeRecordedAnswers().flatMap(findAnswerErrors))];
  if (errors.length > 0) throw new Error(errors.slice(0, maxReported).join('\n'));
}

afterEach(check);
afterAll(check);
afterAll(requireConformingUpstreams);
