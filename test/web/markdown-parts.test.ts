import { afterAll, beforeAll, expect, it } from 'vitest';
import { plainReply } from '#test/chunks.ts';
import { eventsReply } from '#test/scripted-upstream.ts';
import { type PageFixture, startPageFixture } from './support.ts';
import { findViolations } from './violations.ts';

let fixture: PageFixture;

beforeAll(async () => {
  fixture = await startPageFixture();
});

afterAll(() => fixture[Symbol.asyncDispose]());

const answer = `Water is H<sub>2</sub>O.[^1]

| Step | Result |
| ---- | ------ |
| 1 | first<br>second |

> [!WARNING]
> Do not run this.

<details>
<summary>More</summary>

Hidden text.

</details>

[^1]: A chemistry book.

\`\`\`mermaid
graph LR
  A[Start] --> B[End]
\`\`\`

\`\`\`mermaid
graph LR
  A -->
\`\`\`

\`\`\`html
<p id="seen">Seen</p><img src="https://example.com/spy.png"><script>parent.document.title = 'taken'; document.body.append('ran')</script>
\`\`\`
`;

/** The part of a DOM element that this test uses. The DOM types are not available here. */
interface ElementLike {
  readonly ownerDocument: {
    readonly defaultView: { getComputedStyle(element: ElementLike): { readonly color: string } };
  };
}

const readColor = (element: ElementLike) => element.ownerDocument.defaultView.getComputedStyle(element).color;

it('draws HTML tags, alerts, sections, and footnotes, and draws diagrams and HTML in a sandbox', async () => {
  fixture.upstream.script(eventsReply(...plainReply(answer)));
  const { page, sendMessage, readAnswer, issues } = await fixture.open('raw');
  const failures: unknown[] = [];
  page.on('requestfailed', (request) => {
    // The page cancels the request of a reply after its end mark.
    if (!request.url().startsWith(fixture.service.url)) failures.push([request.url(), request.failure()?.errorText]);
  });
  await page.evaluate("document.documentElement.dataset.appearance = 'dark'");
  await sendMessage('Write');
  await readAnswer();
  const reply = page.locator('.reply');
  expect(await reply.locator('sub').textContent()).toBe('2');
  expect(await reply.locator('td br').count()).toBe(1);
  expect(await reply.locator('.markdown-alert[data-kind=warning]').textContent()).toBe('WarningDo not run this.');
  expect(await reply.getByText('Hidden text.').isVisible()).toBe(false);
  await reply.locator('summary', { hasText: 'More' }).click();
  expect(await reply.getByText('Hidden text.').isVisible()).toBe(true);
  await reply.getByRole('button', { name: 'Footnote 1' }).click();
  expect(await page.evaluate('document.activeElement.dataset.footnote')).toBe('1');
  // The diagram with an error has a frame until the error is known.
  const diagram = page.locator('iframe[title=Diagram]').first();
  await diagram.contentFrame().getByText('Start', { exact: true }).waitFor();
  await expect.poll(async () => (await diagram.boundingBox())?.height).toBeLessThan(200);
  await reply.getByText('This diagram cannot be drawn because it has an error').waitFor();
  expect(await page.locator('iframe[title=Diagram]').count()).toBe(1);
  await reply.getByRole('button', { name: 'Preview' }).last().click();
  const frame = page.frameLocator('iframe[title=Preview]');
  await frame.locator('#seen').waitFor();
  expect(await frame.locator('body').innerText()).toBe('Seen');
  expect(await page.locator('iframe[title=Preview]').getAttribute('sandbox')).toBe('allow-scripts');
  expect(await page.title()).not.toBe('taken');
  await reply.getByText('Program code in this preview does not run, and pictures from the internet are not loaded.').waitFor();
  // The frame of a diagram follows the setting of the page.
  expect(await diagram.contentFrame().getByText('Start', { exact: true }).evaluate(readColor)).toBe('rgb(204, 204, 204)');
  // Playwright also reports requests that the policy of the sheet blocks.
  expect(failures).toEqual(issues.externalRequests.map((url) => [url, 'csp']));
  expect(await findViolations(page)).toEqual([]);
});
