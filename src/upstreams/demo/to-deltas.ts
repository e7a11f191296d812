import type { Delta, StageDelta } from '#contract/chunk.ts';
import type { Answer, Step } from './answer.ts';
import type { ShapedReply } from './shape-reply.ts';

// Pattern bound: an answer of the demo, whose every run of white space matches.
const wordWithSpace = /\s*\S+|\s+$/g;
const argumentsPiece = /[\s\S]{1,16}/gu;

/** Opens, fills and closes one stage. */
export function* stageDeltas(index: number, step: Step): Generator<Delta> {
  yield stage({ index, name: step.name, status: null });
  yield* stageEnd(index, step);
}

/** What is left of a stage that stands open. */
export function* stageEnd(index: number, { content, attachments, status }: Omit<Step, 'name'>): Generator<Delta> {
  yield stage({ index, content, status: null });
  if (attachments !== undefined) yield stage({ index, attachments: [...attachments], status: null });
  yield stage({ index, status });
}

/** The message itself, word by word, then what goes with it. */
export function* replyDeltas(reply: ShapedReply, answer: Answer, newCallId: (() => string) | undefined): Generator<Delta> {
  for (const word of reply.content.match(wordWithSpace) ?? []) yield { content: word };
  if (newCallId === undefined) yield* functionDeltas(reply);
  else yield* toolDeltas(reply, newCallId);
  const { attachments = [], controls = [] } = answer;
  if (attachments.length > 0) yield { custom_content: { attachments: [...attachments] } };
  if (controls.length === 0) return;
  yield { custom_content: { controls: [...controls] } };
  yield { custom_content: { state: { parley_controls: controls.map(({ label, schema }) => ({ label, schema })) } } };
}

function* toolDeltas({ calls }: ShapedReply, newCallId: () => string): Generator<Delta> {
  for (const [index, call] of calls.entries()) {
    yield { tool_calls: [{ index, id: newCallId(), type: 'function', function: { name: call.name, arguments: '' } }] };
    for (const piece of call.arguments.match(argumentsPiece) ?? [])
      yield { tool_calls: [{ index, function: { arguments: piece } }] };
  }
}

function* functionDeltas({ calls }: ShapedReply): Generator<Delta> {
  const [call] = calls;
  if (call === undefined) return;
  yield { function_call: { name: call.name, arguments: '' } };
  for (const piece of call.arguments.match(argumentsPiece) ?? []) yield { function_call: { arguments: piece } };
}

function stage(part: StageDelta): Delta {
  return { custom_content: { stages: [part] } };
}
