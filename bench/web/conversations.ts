import { delta, finish, text } from '#test/chunks.ts';
import type { Figure } from './figure.ts';
import { createLongChat, measureUntil, store } from './stored-items.ts';
import type { WebWorld } from './world.ts';

const section = (number: number): string =>
  `## Section ${number}\n\nSome *words* with \`code\`, a [link](https://example.com) and **weight**, ${'and more of them '.repeat(12)}.\n\n` +
  `\`\`\`ts\n${'const answer = question.map((each) => each + 1);\n'.repeat(8)}\`\`\`\n\n| a | b |\n|---|---|\n${'| one | two |\n'.repeat(6)}\n- first\n- second\n\n`;

const sections = (chars: number): string => {
  let text = '';
  for (let number = 0; text.length < chars; number += 1) text += section(number);
  return text;
};

/**
 * Script that returns whether the last answer is complete and has `chars` characters, and whether its visible part is rendered.
 */
const isReadable = (chars: number): string => `(() => {
  const reply = [...document.querySelectorAll('.reply .markdown')].at(-1);
  if (!reply || reply.getAttribute('aria-busy') === 'true' || !document.querySelector('.reply .actions')) return false;
  if (reply.textContent.length < ${chars}) return false;
  const view = document.querySelector('.thread').getBoundingClientRect();
  const isInSight = ({ top, bottom }) => bottom > view.top && top < view.bottom;
  return isInSight(reply.getBoundingClientRect()) && ![...reply.querySelectorAll('.plain')].some((part) => isInSight(part.getBoundingClientRect()));
})()`;

const openLong = "document.querySelector('.conversation-item > a[href$=long]').click()";
const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

const watchFrames = `(() => {
  const longest = { frameMs: 0, taskMs: 0 };
  let lastMs = performance.now();
  const next = (nowMs) => { longest.frameMs = Math.max(longest.frameMs, nowMs - lastMs); lastMs = nowMs; requestAnimationFrame(next); };
  requestAnimationFrame((nowMs) => { lastMs = nowMs; requestAnimationFrame(next); });
  new PerformanceObserver((list) => {
    for (const { duration } of list.getEntries()) longest.taskMs = Math.max(longest.taskMs, duration);
  }).observe({ type: 'longtask' });
  globalThis.longest = longest;
})()`;

/** Measures an answer of ten seconds with a chunk every 10 ms: the longest time between two frames, and the longest task. */
export async function measureStream(world: WebWorld): Promise<readonly Figure[]> {
  const page = await world.open();
  const pieces =
    sections(40_000)
      .match(/.{1,40}/gs)
      ?.slice(0, 1000) ?? [];
  world.upstream.script(async (exchange) => {
    exchange.head();
    await exchange.events(delta({ role: 'assistant' }));
    const beganMs = performance.now();
    for (const [index, piece] of pieces.entries()) {
      await exchange.events(text(piece));
      await pause(Math.max(0, beganMs + index * 10 - performance.now()));
    }
    await exchange.events(finish());
    exchange.done();
  });
  await page.evaluate("location.hash = '#/?with=scripted'");
  await page.locator('.picker', { hasText: 'Scripted' }).waitFor();
  await page.locator('#message').fill('Tell me a lot');
  await page.evaluate(watchFrames);
  await page.keyboard.press('Enter');
  await measureUntil(page, '', isReadable(30_000));
  const longest = (await page.evaluate('globalThis.longest')) as { frameMs: number; taskMs: number };
  await page.context().close();
  const task = longest.taskMs === 0 ? 'no task took 50 ms' : `longest task ${Math.round(longest.taskMs)} ms`;
  const title = '100 chunks a second, longest frame';
  return [{ title, max: 50, unit: 'ms', value: longest.frameMs, details: [task] }];
}

/** Measures opening long chats from the list. */
export async function measureOpening(world: WebWorld): Promise<readonly Figure[]> {
  const page = await world.open();
  await store(page, createLongChat(500, section));
  const open = await measureUntil(page, openLong, `document.querySelectorAll('article').length === 500 && ${isReadable(500)}`);
  await page.context().close();
  const otherPage = await world.open();
  const megabyte = sections(1_000_000);
  await store(
    otherPage,
    createLongChat(2, () => megabyte),
  );
  const readMs = await measureUntil(otherPage, openLong, isReadable(700_000));
  await otherPage.context().close();
  return [
    { title: '500 messages opened', max: 0.5, unit: 's', value: open / 1000 },
    { title: 'answer of 1 MB that is kept, readable', max: 3, unit: 's', value: readMs / 1000 },
  ];
}

/** Measures an unpaced answer of a megabyte. */
export async function measureArrival(world: WebWorld): Promise<readonly Figure[]> {
  const page = await world.open();
  const pieces = sections(1_000_000).match(/.{1,4000}/gs) ?? [];
  world.upstream.script(async (exchange) => {
    exchange.head();
    await exchange.events(delta({ role: 'assistant' }));
    for (const piece of pieces) await exchange.events(text(piece));
    await exchange.events(finish());
    exchange.done();
  });
  await page.evaluate("location.hash = '#/?with=scripted'");
  await page.locator('.picker', { hasText: 'Scripted' }).waitFor();
  await page.locator('#message').fill('Tell me a megabyte');
  const ms = await measureUntil(page, "document.querySelector('.composer [type=submit]').click()", isReadable(700_000));
  await page.context().close();
  return [{ title: 'answer of 1 MB until it is completely readable', max: 3, unit: 's', value: ms / 1000 }];
}
