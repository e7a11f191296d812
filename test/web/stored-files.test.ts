import { expect, it } from 'vitest';
import { startBrowser, startPageProcess } from './support.ts';

it('uploads a file that is too large for the message, and then sends the message with a reference to it', {
  timeout: 60_000,
}, async () => {
  await using service = await startPageProcess({ models: { demo: { upstreams: [{ protocol: 'demo' }] } } });
  const browser = await startBrowser();
  const { page, sendMessage, readAnswer, issues } = await browser.open(`${service.url}/#key=caller-key`);
  await page.locator('.starter').first().waitFor();
  const buffer = Buffer.from('The canteen serves lunch at noon.\n'.repeat(40_000));
  const upload = Promise.withResolvers<void>();
  await page.route('**/v1/files/**', async (route) => {
    await upload.promise;
    await route.continue();
  });
  await page.locator('input[type=file]').setInputFiles({ name: 'my hand book.txt', mimeType: 'text/plain', buffer });
  await page.locator('.upload', { hasText: 'my hand book.txt' }).waitFor();
  await sendMessage('Hello');
  await page.getByText('Your message is sent as soon as the upload is complete.').waitFor();
  await page.locator('#message').pressSequentially(' again');
  await page.getByText('Your message is sent').waitFor({ state: 'detached' });
  await page.keyboard.press('Enter');
  const [request] = await Promise.all([page.waitForRequest(/v1\/chat-runs\//), upload.resolve()]);
  expect(request.postDataJSON().messages[0].content).toBe('Hello again');
  const [attachment] = request.postDataJSON().messages[0].custom_content.attachments;
  expect(attachment).toEqual({
    index: 0,
    type: 'text/plain',
    title: 'my hand book.txt',
    url: expect.stringMatching(/^files\/.+my%20hand%20book\.txt$/),
  });
  await readAnswer();
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: 'Download: my hand book.txt' }).click(),
  ]);
  expect(download.suggestedFilename()).toBe('my hand book.txt');
  expect(issues).toEqual({ externalRequests: [], errors: [] });
});
