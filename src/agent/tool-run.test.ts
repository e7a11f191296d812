import { describe, expect, it } from 'vitest';
import type { ToolContext } from '#domain/tools/tool.ts';
import { collectChunks, run, tool } from '#test/run-loop.ts';
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
