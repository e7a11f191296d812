import { runLoop } from '#agent/loop.ts';
import type { LoopOptions } from '#agent/loop-options.ts';
import type { JsonObject } from '#base/json/json.ts';
import type { Clock } from '#base/time/clock.ts';
import type { Chunk, ResponseAttachment, StageDelta } from '#contract/chat/chunk.ts';
import type { Tool, ToolContext, ToolResult } from '#domain/tools/tool.ts';
import { defaultToolSettings } from './tool-settings.ts';

const clock: Clock = { nowMs: () => 0, epochMs: () => 5000, sleep: () => Promise.resolve() };

export function run(options: Pick<LoopOptions, 'sendRequest'> & Partial<LoopOptions>) {
  return runLoop({
    request: { messages: [{ role: 'user', content: 'Hello' }] },
    tools: [],
    model: 'chat-model',
    id: 'reply-1',
    clock,
    signal: new AbortController().signal,
    ...defaultToolSettings,
    ...options,
  });
}

export async function collectChunks(options: Parameters<typeof run>[0]): Promise<Chunk[]> {
  const chunks: Chunk[] = [];
  for await (const frame of run(options)) chunks.push(...frame.chunks);
  return chunks;
}

export function tool(
  name: string,
  work: (args: JsonObject, context: ToolContext) => unknown,
  parameters: JsonObject = { type: 'object' },
): Tool {
  return {
    name,
    description: `Does ${name}.`,
    parameters,
    async run(args, context): Promise<ToolResult> {
      const result = await work(args, context);
      return typeof result === 'string' ? { text: result, attachments: [], failed: false } : (result as ToolResult);
    },
  };
}

export interface FoldedReply {
  content: string;
  stages: StageDelta[];
  attachments: ResponseAttachment[];
  finishReasons: string[];
}

/** Folds chunks to the final content that a client sees. */
export function fold(chunks: readonly Chunk[]): FoldedReply {
  const folded: FoldedReply = { content: '', stages: [], attachments: [], finishReasons: [] };
  for (const { delta, finish_reason } of chunks.flatMap(({ choices }) => choices)) {
    folded.content += delta.content ?? '';
    folded.attachments.push(...(delta.custom_content?.attachments ?? []));
    for (const stage of delta.custom_content?.stages ?? []) {
      const before = folded.stages[stage.index];
      folded.stages[stage.index] = { ...before, ...stage, content: `${before?.content ?? ''}${stage.content ?? ''}` };
    }
    if (finish_reason) folded.finishReasons.push(finish_reason);
  }
  return folded;
}
