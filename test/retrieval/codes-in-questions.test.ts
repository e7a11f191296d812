import { afterAll, beforeAll, expect, it } from 'vitest';
import { getToolMessages } from '../quick-apps/support.ts';
import { startWith, TestFiles } from './rig.ts';

const topics = ['pump', 'door', 'valve', 'motor', 'belt', 'lamp', 'fan', 'filter', 'sensor', 'brake'];
const filler = (nth: number) =>
  Array.from(
    { length: 12 },
    (_, line) =>
      `What an error can mean: error ${nth}.${line} of the ${topics[nth % 10]} means that its ${topics[line % 10]} is worn.`,
  ).join('\n\n');
let testFiles: TestFiles;
let references: string[];

beforeAll(async () => {
  testFiles = await TestFiles.open();
  references = await Promise.all(
    Array.from({ length: 20 }, (_, nth) => {
      const own = nth === 13 ? 'E4103: oil is low. See config.maxPressure and part AX-77/b.' : 'Nothing else is known of it.';
      return testFiles.put(
        `manual-${nth}.md`,
        `# Manual ${nth}\n\n${filler(nth)}\n\n## More\n\n${own}\n\n## Rest\n\n${filler(nth)}`,
      );
    }),
  );
});

afterAll(() => testFiles[Symbol.asyncDispose]());

it.each([
  'What does error E4103 mean?',
  'Was bedeutet der Fehler e-4103, und was ist zu tun?',
  'What does the error mean where config.maxPressure is wrong?',
  'Que signifie l’erreur de AX-77/b ?',
])('ranks the passage with an exact code first for the question: %s', async (query) => {
  await using rig = await startWith(testFiles, references, { query });
  await rig.chat(query);
  expect(getToolMessages(rig)[0]).toMatch(/^\[1\] manual-13\.md — Manual 13 › More\nE4103: oil is low\./);
});
