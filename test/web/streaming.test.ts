import { afterAll, beforeAll, expect, it } from 'vitest';
import { delta, finish, text } from '#test/chunks.ts';
import { type PageHouse, startPageHouse } from './support.ts';

let house: PageHouse;

beforeAll(async () => {
  house = await startPageHouse();
});

afterAll(() => house[Symbol.asyncDispose]());

const section = (number: number): string =>
  `## Section ${number}\n\nSome *words* with \`code\`, a [link](https://example.com) and **weight**, ${'and more of them '.repeat(12)}.\n\n` +
  `\`\`\`ts\n${'const answer = question.map((each) => each + 1);\n'.repeat(8)}\`\`\`\n\n` +
  `| a | b |\n|---|---|\n${'| one | two |\n'.repeat(6)}\n- first\n- second\n\n`;

const shapes: readonly (readonly [string, string])[] = [
  ['mixed', Array.from({ length: 125 }, (_, number) => section(number)).join('')],
  ['one paragraph', 'Word after word without any end '.repeat(3200)],
  ['one block of code', `\`\`\`ts\n${'const answer = question.map((each) => each + 1);\n'.repeat(2050)}\`\`\``],
  ['one list', '- an item of a list that goes on\n'.repeat(3100)],
  ['one table', `| a | b |\n|---|---|\n${'| one cell | another cell |\n'.repeat(3700)}`],
];

const watch = `{
  globalThis.frames = [];
  let last = performance.now();
  const note = (now) => { frames.push(now - last); last = now; requestAnimationFrame(note); };
  requestAnimationFrame(note);
}`;

/** How long frames took is told and not asserted: that depends on the machine. */
it.each(shapes)('An answer of 100 kB comes whole: %s', async (shape, whole) => {
  const pieces = whole.match(/[\s\S]{1,200}/g) ?? [];
  house.upstream.script(async (answering) => {
    answering.head();
    await answering.events(delta({ role: 'assistant' }));
    for (const piece of pieces) {
      await answering.events(text(piece));
      await new Promise((resolve) => setTimeout(resolve, 4));
    }
    await answering.events(finish());
    answering.done();
  });
  const { page, say, answer, troubles } = await house.open('raw');
  await page.evaluate(watch);
  await say('Tell me a lot');
  const shown = await answer();
  const frames = (await page.evaluate('frames')) as number[];
  const sorted = frames.toSorted((one, other) => one - other);
  const at = (share: number): number => Math.round(sorted[Math.floor(share * (sorted.length - 1))] ?? 0);
  process.stdout.write(
    `${shape}: ${frames.length} frames; median ${at(0.5)} ms, 99 of 100 under ${at(0.99)} ms, longest ${at(1)} ms\n`,
  );
  expect(whole.length).toBeGreaterThan(95_000);
  expect(shown.replace(/\s+/g, '').length).toBeGreaterThan(whole.replace(/[\s|`#*[\]-]+/g, '').length * 0.6);
  expect(troubles).toEqual({ outside: [], faults: [] });
});
