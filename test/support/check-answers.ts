import { afterAll, afterEach } from 'vitest';
import { takeSeenAnswers } from './described-answers.ts';
import { faultsOfAnswer } from './faults-of-answer.ts';

// Runs beside every test: whatever a service of the test answered is measured against its description.

const mostTold = 5;

function check(): void {
  const faults = [...new Set(takeSeenAnswers().flatMap(faultsOfAnswer))];
  if (faults.length > 0) throw new Error(`/openapi.json says otherwise:\n${faults.slice(0, mostTold).join('\n')}`);
}

afterEach(check);
afterAll(check);
