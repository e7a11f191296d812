import { realpath, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { openFolder } from '#test/temporary-folder.ts';
import {
  chatRequest,
  getChoice,
  getOfferedTools,
  getToolResults,
  startApp,
  startFilesystem,
  type ToolCalling,
  textReply,
  toolCallReply,
} from './support.ts';

/** Starts an app with the reference file server for a folder that holds `note.txt`. */
async function start(toCalls: (folder: string) => readonly ToolCalling[]) {
  const folder = await openFolder();
  onTestFinished(() => folder[Symbol.asyncDispose]());
  const path = await realpath(folder.path);
  await writeFile(join(path, 'note.txt'), 'The harbour opens at six.\n');
  const { url } = await startFilesystem(path);
  return startApp({ url }, [toolCallReply(...toCalls(path)), textReply('Done.')]);
}

describe('the reference file server through a stdio gateway', () => {
  it('lists and reads files in its folder', async () => {
    const { service, model } = await start((path) => [
      ['list_directory', { path }],
      ['read_text_file', { path: join(path, 'note.txt') }],
    ]);
    const { message } = getChoice(await service.chat('app', chatRequest));
    expect(getOfferedTools(model)).toEqual(expect.arrayContaining(['list_directory', 'read_text_file', 'write_file']));
    const [listing, note] = getToolResults(model);
    expect(listing).toContain('[FILE] note.txt');
    expect(note).toContain('The harbour opens at six.');
    expect(message.custom_content.stages).toMatchObject([{ status: 'completed' }, { status: 'completed' }]);
  });

  it('reports to the model that paths outside its folder are denied', async () => {
    const { service, model } = await start((path) => [
      ['read_text_file', { path: '/etc/passwd' }],
      ['read_text_file', { path: `${path}/../../etc/passwd` }],
    ]);
    const { message } = getChoice(await service.chat('app', chatRequest));
    expect(getToolResults(model)).toEqual([expect.stringContaining('Access denied'), expect.stringContaining('Access denied')]);
    expect(model.requests[1]?.text).not.toContain('root:');
    expect(message.content).toBe('Done.');
    expect(message.custom_content.stages).toMatchObject([{ status: 'failed' }, { status: 'failed' }]);
  });
});
