import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { delta, finish, text } from '#test/chunks.ts';
import { eventsReply } from '#test/scripted-upstream.ts';
import { type PageFixture, startPageFixture } from './support.ts';
import { viewports } from './violations.ts';

let fixture: PageFixture;

beforeAll(async () => {
  const demo = { upstreams: [{ protocol: 'demo' }] };
  fixture = await startPageFixture({
    models: {
      novel9: { displayName: 'Novel', displayVersion: '9', ...demo },
      novel10: { displayName: 'Novel', displayVersion: '10', ...demo },
    },
  });
});

afterAll(() => fixture[Symbol.asyncDispose]());

/** Describes the focused element, and the ancestor that cuts its focus ring, if any. */
const describeFocus = `(() => {
  const element = document.activeElement
  const { outlineStyle, outlineWidth, outlineOffset } = getComputedStyle(element)
  const name = element.className + ' ' + (element.ariaLabel ?? element.textContent.slice(0, 40))
  const reach = outlineStyle === 'none' ? 0 : Number.parseFloat(outlineWidth) + Number.parseFloat(outlineOffset)
  const box = element.getBoundingClientRect()
  let outer = element
  while ((outer = outer.parentElement) !== null && outer !== document.body) {
    const style = getComputedStyle(outer)
    const isContained = style.contentVisibility === 'auto' || /paint|content|strict/.test(style.contain)
    const margin = isContained && style.overflow === 'visible' ? Number.parseFloat(style.overflowClipMargin) : 0
    const clip = outer.getBoundingClientRect()
    const left = clip.left + outer.clientLeft - margin - (box.left - reach)
    const top = clip.top + outer.clientTop - margin - (box.top - reach)
    const right = box.right + reach - margin - (clip.left + outer.clientLeft + outer.clientWidth)
    const bottom = box.bottom + reach - margin - (clip.top + outer.clientTop + outer.clientHeight)
    const cutX = isContained || style.overflowX !== 'visible' ? Math.max(left, right) : 0
    const cutY = isContained || style.overflowY !== 'visible' ? Math.max(top, bottom) : 0
    if (Math.max(cutX, cutY) > 0.5) return { name, cutBy: outer.className + ' ' + [left, top, right, bottom].map(Math.round) }
    if (outer.localName === 'dialog') break
  }
  return { name }
})()`;

interface Focus {
  readonly name: string;
  readonly cutBy?: string;
}

/** Presses Tab until the focus returns to the start. Returns the focused elements. */
async function listFocused(
  page: Page,
  { key = 'Tab', end }: { readonly key?: string; readonly end: string },
): Promise<readonly Focus[]> {
  const focused: Focus[] = [];
  for (let count = 0; count < 80; count += 1) {
    await page.keyboard.press(key);
    focused.push((await page.evaluate(describeFocus)) as Focus);
    if (await page.evaluate(`document.activeElement.matches(${JSON.stringify(end)})`)) return focused;
  }
  throw new Error(`Tab did not reach ${end}`);
}

const answer = `[Link](https://example.com) in the first line [1].[^1]

\`\`\`html
<p>Seen</p>
\`\`\`

<details>
<summary>More</summary>

Hidden text.

</details>

- [Last link](https://example.com/last)

[^1]: A chemistry book.
`;

describe.each(viewports)('focus rings at the window size %s', (_viewport, options) => {
  it('are complete in a chat with a code block, sources, footnotes, and versions', async () => {
    const passage = {
      index: 0,
      title: 'weavers.md',
      data: 'Forty looms.',
      type: 'text/markdown',
      reference_url: 'files/public/w',
    };
    const notes = { index: 2, title: 'Notes', data: 'Text.', type: 'text/plain' };
    const reply = eventsReply(
      delta({ role: 'assistant' }),
      text(answer),
      delta({ custom_content: { attachments: [passage, { ...passage, index: 1, title: 'monks.md' }, notes] as never } }),
      finish(),
    );
    fixture.upstream.script(reply, reply);
    const { page, sendMessage, readAnswer } = await fixture.open('raw', options);
    await sendMessage('Write');
    await readAnswer();
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.locator('.branches').waitFor();
    await readAnswer();
    await page.locator('#message').focus();
    const focused = await listFocused(page, { key: 'Shift+Tab', end: '.picker' });
    const names = focused.map(({ name }) => name).join('\n');
    for (const part of ['Source 1', 'weavers.md', 'Last link', 'More', 'Download', 'Try again', 'Edit'])
      expect(names).toContain(part);
    expect(focused.filter(({ cutBy }) => cutBy !== undefined)).toEqual([]);
    await page.getByRole('button', { name: 'Edit and ask again' }).first().click();
    expect(await page.evaluate(describeFocus)).not.toHaveProperty('cutBy');
    expect((await listFocused(page, { end: '.editor .primary' })).filter(({ cutBy }) => cutBy !== undefined)).toEqual([]);
  });

  it('are complete in the model picker', async () => {
    const { page } = await fixture.open('demo', options);
    await page.evaluate("location.hash = '#/?with=novel10'");
    await page.locator('.picker', { hasText: 'Novel' }).waitFor();
    await page.locator('.picker').click();
    await page.locator('.option-version').first().waitFor();
    const focused = await listFocused(page, { end: '.picker-body .search input' });
    expect(focused.filter(({ name }) => name.startsWith('option-version'))).toHaveLength(2);
    expect(focused.filter(({ cutBy }) => cutBy !== undefined)).toEqual([]);
  });
});
