import { describe, expect, it } from 'vitest';
import {
  chatRequest,
  getChoice,
  getOfferedTools,
  getToolResults,
  startApp,
  startEverything,
  type ToolCalling,
  textReply,
  toolCallReply,
} from './support.ts';

/** The transports of the 2025 revisions that the reference server supports. */
const transports = [
  ['streamableHttp', 'streamable_http'],
  ['sse', 'sse'],
] as const;

describe.each(transports)('the reference server over %s', (transport, protocol) => {
  const start = async (...calls: readonly ToolCalling[]) => {
    const server = await startEverything(transport);
    return { server, ...(await startApp({ url: server.url, protocol }, [toolCallReply(...calls), textReply('Done.')])) };
  };

  it('has its tools offered to the model in order of name', async () => {
    const { service, model } = await start(['get-sum', { a: 2, b: 40 }]);
    await service.chat('app', chatRequest);
    expect(getOfferedTools(model)).toEqual(expect.arrayContaining(['echo', 'get-sum', 'get-tiny-image']));
    expect(getOfferedTools(model)).toEqual(getOfferedTools(model).toSorted());
    expect(model.requests[0]?.body.tools).toContainEqual({
      type: 'function',
      function: {
        name: 'echo',
        description: 'Echoes back the input string',
        parameters: {
          type: 'object',
          properties: { message: { type: 'string', description: 'Message to echo' } },
          required: ['message'],
        },
      },
    });
    expect(getToolResults(model)).toEqual(['The sum of 2 and 40 is 42.']);
  });

  it('returns text to the model and other content to the user', async () => {
    const calls: ToolCalling[] = [['get-tiny-image'], ['get-structured-content', { location: 'New York' }]];
    const { service, model } = await start(...calls, ['get-resource-links', { count: 1 }]);
    const { message } = getChoice(await service.chat('app', chatRequest));
    const [image, structured, link] = getToolResults(model);
    expect(image).toContain('[Image (image/png): the user was shown it.]');
    expect(JSON.parse(structured ?? '')).toMatchObject({ temperature: expect.any(Number) });
    expect(link).toContain('demo://resource/dynamic/');
    // The calls run concurrently, so any of them may end first.
    expect(message.custom_content.attachments).toHaveLength(2);
    expect(message.custom_content.attachments).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ type: 'image/png', data: expect.stringMatching(/^iVBOR/) }),
        expect.objectContaining({
          title: expect.stringContaining('Resource 1'),
          reference_url: expect.stringMatching(/^demo:/),
        }),
      ]),
    );
    expect(model.requests[1]?.text).not.toContain('iVBOR');
  });

  it('reports its progress in the stage', async () => {
    const { service } = await start(['trigger-long-running-operation', { duration: 0.6, steps: 3 }]);
    const { message } = getChoice(await service.chat('app', chatRequest));
    const [stage] = message.custom_content.stages ?? [];
    expect(stage?.status).toBe('completed');
    expect(stage?.content).toMatch(/1 of 3[\s\S]*2 of 3[\s\S]*Result/);
  });

  it('reports to the model which argument is invalid', async () => {
    const { service, model } = await start(['get-sum', { a: 'two' }]);
    const { message } = getChoice(await service.chat('app', chatRequest));
    expect(getToolResults(model)[0]).toContain('arguments must have required property');
    expect(message.custom_content.stages).toMatchObject([{ name: 'get-sum', status: 'failed' }]);
  });

  it('fails only the call in progress if it is killed', async () => {
    const { server, service, model } = await start(['trigger-long-running-operation', { duration: 60, steps: 120 }]);
    const stream = await service.stream('app', chatRequest);
    for (let event: string | undefined = ''; !event?.includes('1 of 120'); event = await stream.next())
      expect(event).toBeDefined();
    await server.stop();
    const { chunks, content } = await stream.readRest();
    expect(content()).toBe('Done.');
    expect(chunks.some(({ choices }) => choices[0]?.finish_reason === 'stop')).toBe(true);
    const problem = protocol === 'sse' ? 'closed the connection' : 'ended its response early';
    expect(getToolResults(model)).toEqual([`The tool failed: The MCP server Tools ${problem}.`]);
  });

  it('is reconnected after a restart', async () => {
    const { server, service, model } = await start(['echo', { message: 'one' }]);
    await service.chat('app', chatRequest);
    await server.stop();
    await startEverything(transport, Number(new URL(server.url).port));
    model.script(toolCallReply(['echo', { message: 'two' }]), textReply('Done.'));
    await service.chat('app', chatRequest);
    expect(getToolResults(model, 3)).toEqual(['Echo: two']);
  });
});
