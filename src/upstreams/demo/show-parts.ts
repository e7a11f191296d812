import type { Control, ResponseAttachment } from '#contract/chat/chunk.ts';
import type { Answer, Situation, Step } from './answer.ts';
import { shorten } from './words.ts';

const partPatterns = {
  // Pattern bound: `splitQuestion` limits a question to 600 characters.
  everything: /\b(show|give|demo\w*|try)\b.*\b(everything|all (you can|of it))\b|^everything\b/i,
  attachment: /\battachments?\b/i,
  stages: /\bstages?\b/i,
  controls: /\b(controls?|buttons?|forms?)\b/i,
};
const requestPattern =
  // Pattern bound: `splitQuestion` limits a question to 600 characters.
  /\b(show|give|send|offer|want|need|add|attach|with|see|demo\w*|please|try|make)\b|^\W*(an? |some |the )?(attachments?|stages?|controls?)\W*$/i;

/** Shows the parts of the wire that the user asks for: stages, an attachment, controls, or all of them. */
export function showParts(situation: Situation): Answer | undefined {
  const { question } = situation.conversation;
  const isAll = partPatterns.everything.test(question);
  const isRequested = isAll || requestPattern.test(question);
  const includesPart = (part: keyof typeof partPatterns): boolean => isRequested && (isAll || partPatterns[part].test(question));
  const lines: string[] = [];
  if (includesPart('stages')) {
    situation.steps.push(...exampleSteps);
    lines.push('**Stages**: one that went well and carries an attachment, and one that failed on purpose.');
  }
  if (includesPart('attachment')) lines.push('**An attachment**: a table about your request.');
  if (includesPart('controls'))
    lines.push('**Controls**: pick a color or rate me. I receive your choice as a `completed_control`.');
  if (lines.length === 0) return undefined;
  return {
    content: `Here you are:\n\n${lines.map((line) => `- ${line}`).join('\n')}`,
    attachments: includesPart('attachment') ? [createRequestTable(situation)] : [],
    controls: includesPart('controls') ? exampleControls : [],
  };
}

/** Reports the value of a completed control. */
export function answerControl({ conversation, steps }: Situation): Answer | undefined {
  const { completedControl: control, question } = conversation;
  if (control === undefined) return undefined;
  steps.push({ name: 'Reading the control', content: `\`${shorten(control.label, 100)}\` was filled in.`, status: 'completed' });
  const value = control.value === undefined ? '' : ` with the value \`${shorten(JSON.stringify(control.value), 1000)}\``;
  const remark = question === '' ? '' : ` You also wrote “${shorten(question, 200)}”.`;
  return { content: `You used the control **${shorten(control.label, 200)}**${value}.${remark}` };
}

const exampleSteps: readonly Step[] = [
  {
    name: 'A stage with an attachment',
    content: 'Stages show intermediate work as it happens.',
    status: 'completed',
    attachments: [{ index: 0, type: 'text/markdown', title: 'A note', data: 'A stage can have its own *attachments*.' }],
  },
  { name: 'A stage that fails on purpose', content: 'A failed step does not end the reply.', status: 'failed' },
];

const exampleControls: readonly Control[] = [
  {
    index: 0,
    label: 'Pick a color',
    schema: {
      type: 'object',
      properties: { color: { type: 'string', enum: ['red', 'green', 'blue'] } },
      required: ['color'],
      additionalProperties: false,
    },
  },
  {
    index: 1,
    label: 'Rate this answer',
    schema: {
      type: 'object',
      properties: { stars: { type: 'integer', minimum: 1, maximum: 5 }, remark: { type: 'string', maxLength: 200 } },
      required: ['stars'],
      additionalProperties: false,
    },
  },
];

function createRequestTable({ conversation, offer }: Situation): ResponseAttachment {
  const { question, passages, attachments, toolResults } = conversation;
  const rows = [
    ['Question', question],
    ['Tools offered', offer.tools.map(({ name }) => name).join(', ') || 'none'],
    ['Tool results', String(toolResults.length)],
    ['Your attachments', attachments.map(({ title, type }) => title || type || 'text/markdown').join(', ') || 'none'],
    ['Passages to read', `${passages.length}, ${passages.reduce((sum, { text }) => sum + text.length, 0)} characters`],
  ];
  const lines = rows.map(([label, value]) => `| ${label} | ${toCell(value ?? '')} |`);
  return {
    index: 0,
    type: 'text/markdown',
    title: 'What I saw',
    data: ['| What | Seen |', '| --- | --- |', ...lines].join('\n'),
  };
}

function toCell(text: string): string {
  return shorten(text, 200).replace(/\|/g, '\\|').replace(/\s+/g, ' ');
}
