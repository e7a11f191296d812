import { describe, expect, it } from 'vitest';
import { type ToolContext, ToolError } from '#domain/tools/tool.ts';
import { collectChunks, fold, run, tool } from '#test/run-loop.ts';
import { answers, calls, scriptedModel } from '#test/scripted-model.ts';

const createHangingTool = (signals: AbortSignal[]) =>
  tool('hang', (_args, { signal }) => {
    signals.push(signal);
    return new Promise(() => undefined);
  });

describe('runTools, if the client disconnects', () => {
  it('aborts all tools immediately and ends the run', async () => {
    const signals: AbortSignal[] = [];
    const disconnection = new AbortController();
    const model = scriptedModel(calls(['hang', {}], ['hang', {}]), answers('Never.'));
    const outcome = expect(
      collectChunks({ sendRequest: model.sendRequest, tools: [createHangingTool(signals)], signal: disconnection.signal }),
    ).rejects.toThrow('client disconnected');
    while (signals.length < 2) await new Promise(setImmediate);
    disconnection.abort(new Error('client disconnected'));
    expect(signals.map(({ aborted }) => aborted)).toEqual([true, true]);
    await outcome;
    expect(model.requests).toHaveLength(1);
  });

  it('aborts all tools if the stream is closed', async () => {
    const signals: AbortSignal[] = [];
    const model = scriptedModel(calls(['hang', {}]), answers('Never.'));
    for await (const frame of run({ sendRequest: model.sendRequest, tools: [createHangingTool(signals)] })) {
      if (!frame.chunks.some(({ choices }) => choices[0]?.delta.custom_content)) continue;
      // A tool starts after its stage, when its arguments have been checked.
      while (signals.length < 1) await new Promise(setImmediate);
      break;
    }
    expect(signals.map(({ aborted }) => aborted)).toEqual([true]);
  });

  it('starts no tool whose arguments are still being checked', async () => {
    const signals: AbortSignal[] = [];
    const model = scriptedModel(calls(['hang', {}]), answers('Never.'));
    for await (const frame of run({ sendRequest: model.sendRequest, tools: [createHangingTool(signals)] })) {
      if (frame.chunks.some(({ choices }) => choices[0]?.delta.custom_content)) break;
    }
    for (let turn = 0; turn < 10; turn += 1) await new Promise(setImmediate);
    expect(signals).toEqual([]);
  });
});

describe('runTools with tools that report progress', () => {
  it('sets a status in each chunk of a stage', async () => {
    const chatty = tool('chatty', async (_args, { report }: ToolContext) => {
      await report({ content: '1 of 2' });
      return 'done';
    });
    const chunks = await collectChunks({
      sendRequest: scriptedModel(calls(['chatty', {}]), answers('Done.')).sendRequest,
      tools: [chatty],
    });
    const stages = chunks.flatMap(({ choices }) => choices[0]?.delta.custom_content?.stages ?? []);
    expect(stages.map(({ status }) => status)).toEqual([null, null, 'completed']);
  });

  it('applies back-pressure of a slow reader to the tool', async () => {
    let reported = 0;
    const chatty = tool('chatty', async (_args, { report }: ToolContext) => {
      for (; reported < 50; reported += 1) await report({ content: '.' });
      return 'done';
    });
    const frames = run({ sendRequest: scriptedModel(calls(['chatty', {}]), answers('Done.')).sendRequest, tools: [chatty] });
    for (let read = 0; read < 5; read += 1) await frames.next();
    await new Promise((resolve) => setTimeout(resolve, 10));
    expect(reported).toBeLessThan(6);
    await frames.return(undefined);
  });

  it('ignores reports after the tool run has ended', async () => {
    let late: ToolContext['report'] | undefined;
    const quick = tool('quick', (_args, { report }) => {
      late = report;
      return 'done';
    });
    const frames = run({ sendRequest: scriptedModel(calls(['quick', {}]), answers('Done.')).sendRequest, tools: [quick] });
    const texts: string[] = [];
    for await (const frame of frames) {
      await late?.({ content: 'LATE' });
      texts.push(frame.bytes);
    }
    expect(texts.slice(2).join('')).not.toContain('LATE');
  });
});

const time = tool('get_time', () => 'noon');

describe('runLoop with failing tools', () => {
  it.each([
    ['an unknown tool', 'nothing', {}, 'There is no tool named nothing.'],
    ['arguments that are not JSON', 'get_time', '{"a":', 'The arguments are not a JSON object. Send a JSON object.'],
    ['arguments that are not an object', 'get_time', '[1]', 'The arguments are not a JSON object. Send a JSON object.'],
    [
      'arguments with a forbidden key',
      'get_time',
      '{"__proto__":{}}',
      'The arguments are not a JSON object. Send a JSON object.',
    ],
    ['an error that may be disclosed', 'disclosing', {}, 'The tool failed: no such city'],
    ['an error that must not be disclosed', 'secret', {}, 'The tool failed.'],
    ['a tool that throws synchronously', 'sync', {}, 'The tool failed: bad input'],
    ['a failed result', 'failing', {}, 'HTTP 404'],
  ])('continues after %s and returns the reason to the model', async (_description, name, args, expected) => {
    const reportedTools: string[] = [];
    const tools = [
      time,
      tool('disclosing', () => Promise.reject(new ToolError('no such city'))),
      tool('secret', () => Promise.reject(new Error('password=hunter2'))),
      {
        ...time,
        name: 'sync',
        run: () => {
          throw new ToolError('bad input');
        },
      },
      tool('failing', () => ({ text: 'HTTP 404', attachments: [], failed: true })),
    ];
    const model = scriptedModel(calls([name, args]), answers('Sorry.'));
    const chunks = await collectChunks({
      sendRequest: model.sendRequest,
      tools,
      onToolError: (tool) => reportedTools.push(tool),
    });
    expect(model.requests[1]?.messages.at(-1)).toMatchObject({ role: 'tool', content: expected });
    expect(fold(chunks)).toMatchObject({
      content: 'Sorry.',
      stages: [{ index: 0, name, status: 'failed' }],
      finishReasons: ['stop'],
    });
    expect(JSON.stringify(chunks)).not.toContain('hunter2');
    expect(reportedTools).toEqual(name === 'secret' ? ['secret'] : []);
  });

  it('stops a tool that exceeds its time and reports that to the model', async () => {
    let stopped = false;
    const hangingTool = tool('hanging', (_args, { signal }) => {
      signal.addEventListener('abort', () => {
        stopped = true;
      });
      return new Promise(() => undefined);
    });
    const model = scriptedModel(calls(['hanging', {}], ['get_time', {}]), answers('Sorry.'));
    const { stages } = fold(await collectChunks({ sendRequest: model.sendRequest, tools: [hangingTool, time], timeoutMs: 30 }));
    expect(model.requests[1]?.messages.at(-2)?.content).toBe('The tool was stopped: it took longer than 0.03 s.');
    expect(stages.map(({ status }) => status)).toEqual(['failed', 'completed']);
    expect(stopped).toBe(true);
  });
});

describe('runLoop with tool results', () => {
  it('truncates a long result for the model and attaches the full result to the stage', async () => {
    const long = 'é'.repeat(30_000);
    const model = scriptedModel(calls(['long', {}]), answers('Done.'));
    const { stages, attachments } = fold(
      await collectChunks({ sendRequest: model.sendRequest, tools: [tool('long', () => long)] }),
    );
    const content = model.requests[1]?.messages.at(-1)?.content as string;
    const [truncated = '', note] = content.split('\n\n');
    expect(truncated).toMatch(/^é{19000,}$/);
    expect(note).toMatch(
      new RegExp(
        `^\\[Truncated: these are the first ${2 * truncated.length} of 60000 bytes of the result\\. read_result with id "r_[0-9a-f]{10}" continues from offset ${truncated.length}, or searches it\\.\\]$`,
      ),
    );
    expect(Buffer.byteLength(content)).toBeLessThanOrEqual(40_000);
    expect(Buffer.byteLength(content)).toBeGreaterThan(39_980);
    expect(stages[0]?.attachments).toEqual([{ index: 0, title: 'Full result', type: 'text/plain', data: long }]);
    expect(attachments).toEqual([]);
  });

  it('truncates between characters', async () => {
    const model = scriptedModel(calls(['long', {}]), answers('Done.'));
    await collectChunks({ sendRequest: model.sendRequest, tools: [tool('long', () => '😀'.repeat(50))], maxResultBytes: 180 });
    expect(model.requests[1]?.messages.at(-1)?.content).toMatch(/^(😀){9}\n\n\[Truncated.* first 36 .*offset 18, .*\]$/u);
  });

  it('sends attachments in the stage and in the reply, each with its own indexes', async () => {
    const chart = tool('chart', () => ({ text: 'Drawn.', attachments: [{ type: 'image/png', data: 'aGk=' }], failed: false }));
    const model = scriptedModel(calls(['chart', {}], ['chart', {}]), answers('Done.'));
    const { stages, attachments } = fold(await collectChunks({ sendRequest: model.sendRequest, tools: [chart] }));
    expect(stages.map((stage) => stage.attachments)).toEqual([
      [{ index: 0, type: 'image/png', data: 'aGk=' }],
      [{ index: 0, type: 'image/png', data: 'aGk=' }],
    ]);
    expect(attachments.map(({ index }) => index)).toEqual([0, 1]);
  });

  it('uses a code fence that the result cannot close', async () => {
    const model = scriptedModel(calls(['fence', {}]), answers('Done.'));
    const { stages } = fold(
      await collectChunks({ sendRequest: model.sendRequest, tools: [tool('fence', () => 'a\n````\n# b')] }),
    );
    expect(stages[0]?.content).toContain('`````\na\n````\n# b\n`````');
  });
});
