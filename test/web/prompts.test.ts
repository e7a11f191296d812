import { expect, it } from 'vitest';
import { startBrowser, startPageProcess } from './support.ts';
import { findViolations, measureOverflow } from './violations.ts';

it('stores prompts, offers those of the service, inserts them after a slash, and lets the user fill them in with the keyboard only', {
  timeout: 90_000,
}, async () => {
  await using service = await startPageProcess({
    models: { demo: { upstreams: [{ protocol: 'demo' }] } },
    prompts: { 'Weekly report': { content: 'Report on {{topic}}' }, Retired: { content: 'x', userRoles: [] } },
  });
  const browser = await startBrowser();
  const { page, readAnswer, issues } = await browser.open(`${service.url}/#key=caller-key`);
  const message = page.locator('#message');
  const selectedOption = page.getByRole('option', { selected: true });
  await page.locator('.starter').first().waitFor();
  await message.fill('/');
  await page.getByRole('option', { name: 'Weekly report Shared with you' }).waitFor();
  await page.keyboard.press('ArrowUp');
  await selectedOption.getByText('Manage prompts').waitFor();
  expect(await findViolations(page)).toEqual([]);
  await page.keyboard.press('Enter');
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Name').waitFor();
  expect(await page.evaluate('document.activeElement.labels[0]?.textContent')).toBe('Name');
  for (const [name, content] of [
    ['Greeting', 'Hello {{name}} from {{place}}'],
    ['Count', 'Count to 3'],
  ] as const) {
    await dialog.getByLabel('Name').fill(name);
    // A click outside does not close the dialog, which would lose the text.
    await page.mouse.click(5, 5);
    await dialog.getByLabel('Text').fill(content);
    await dialog.getByRole('button', { name: 'Save', exact: true }).click();
    await dialog.getByRole('button', { name, exact: true }).waitFor();
  }
  await dialog.getByText('Report on {{topic}}').waitFor({ state: 'hidden' });
  await dialog.getByText('Weekly report').click();
  await dialog.getByText('Report on {{topic}}').waitFor();
  await dialog.getByRole('button', { name: 'Copy to your prompts' }).click();
  await dialog.getByRole('button', { name: 'Weekly report', exact: true }).waitFor();
  await dialog.getByRole('button', { name: 'Delete “Weekly report”' }).click();
  await dialog.getByRole('button', { name: 'Weekly report', exact: true }).waitFor({ state: 'detached' });
  for (const size of [
    { width: 390, height: 800 },
    { width: 1280, height: 720 },
  ]) {
    await page.setViewportSize(size);
    expect([await findViolations(page), await measureOverflow(page)]).toEqual([[], 0]);
  }
  const downloading = page.waitForEvent('download');
  await dialog.getByRole('button', { name: 'Save all as a file' }).click();
  const file = await (await downloading).path();
  await dialog.getByRole('button', { name: 'Delete “Count”' }).click();
  await dialog.getByRole('button', { name: 'Count', exact: true }).waitFor({ state: 'detached' });
  await dialog.locator('input[type=file]').setInputFiles(file);
  await dialog.getByText('One prompt was added.').waitFor();
  await dialog.getByRole('button', { name: 'Count', exact: true }).waitFor();
  const otherPrompts = JSON.stringify([{ command: '/count', title: 'Count', content: 'Count to 9' }]);
  await dialog
    .locator('input[type=file]')
    .setInputFiles({ name: 'o.json', mimeType: 'application/json', buffer: Buffer.from(otherPrompts) });
  await dialog.getByRole('button', { name: 'Count (2)', exact: true }).waitFor();
  await page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'detached' });

  await message.fill('/weekly');
  await selectedOption.getByText('Weekly report').click();
  await expect.poll(() => message.inputValue()).toBe('Report on {{topic}}');
  await message.fill('/gree');
  await selectedOption.getByText('Greeting').waitFor();
  await page.keyboard.press('Tab');
  const selected = '(({ value, selectionStart: from, selectionEnd: to }) => value.slice(from, to))(document.activeElement)';
  await expect.poll(() => page.evaluate(selected)).toBe('{{name}}');
  await page.keyboard.type('Ada');
  await page.keyboard.press('Tab');
  await page.keyboard.type('Porto');
  expect(await message.inputValue()).toBe('Hello Ada from Porto');
  await page.keyboard.press('Enter');
  expect(await readAnswer()).toContain('Hello Ada from Porto');

  await message.fill('/nothing like this');
  expect(await page.getByRole('option').count()).toBe(0);
  await message.fill('/');
  await page.getByRole('option', { name: 'Greeting' }).waitFor();
  await page.keyboard.press('ArrowUp');
  await page.keyboard.press('Enter');
  await dialog.getByRole('button', { name: 'Delete “Greeting”' }).click();
  await dialog.getByRole('button', { name: 'Greeting', exact: true }).waitFor({ state: 'detached' });
  expect(issues).toEqual({ externalRequests: [], errors: [] });
});
