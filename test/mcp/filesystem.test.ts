import { realpath, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { openFolder } from '#test/temporary-folder.ts';
import { ask, callsTools, choiceOf, offered, says, startApp, startFilesystem, type ToolCalling, toolTexts } from './support.ts';

/** An app with the reference server of files for a folder that holds `note.txt`. */
async function start(toCalls: (folder: string) => readonly ToolCalling[]) {
  const folder = await openFolder();
  onTestFinished(() => folder[Symbol.asyncDispose]());
  const path = await realpath(folder.path);
  await writeFile(join(path, 'note.txt'), 'The harbour opens at six.\n');
  const { url } = await startFilesystem(path);
  return startApp({ url }, [callsTools(...toCalls(path)), says('Done.')]);
}

describe('the reference server of files behind a gateway from stdio', () => {
  it('lists and reads what is in its folder', async () => {
    const { service, model } = await start((path) => [
      ['list_directory', { path }],
      ['read_text_file', { path: join(path, 'note.txt') }],
    ]);
    const { message } = choiceOf(await service.chat('app', ask));
    expect(offered(model)).toEqual(expect.arrayContaining(['list_directory', 'read_text_file', 'write_file']));
    const [listing, note] = toolTexts(model);
    expect(listing).toContain('[FILE] note.txt');
    expect(note).toContain('The harbour opens at six.');
    expect(message.custom_content.stages).toMatchObject([{ status: 'completed' }, { status: 'completed' }]);
  });

  it('has its refusal of what is outside told to the model', async () => {
    const { service, model } = await start((path) => [
      ['read_text_file', { path: '/etc/passwd' }],
      ['read_text_file', { path: `${path}/../../etc/passwd` }],
    ]);
    const { message } = choiceOf(await service.chat('app', ask));
    expect(toolTexts(model)).toEqual([expect.stringContaining('Access denied'), expect.stringContaining('Access denied')]);
    expect(model.requests[1]?.text).not.toContain('root:');
    expect(message.content).toBe('Done.');
    expect(message.custom_content.stages).toMatchObject([{ status: 'failed' }, { status: 'failed' }]);
  });
});
