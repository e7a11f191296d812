import { saveFile, toFileName } from '../parts/device-files.tsx';
import { type Conversation, listVisibleTurns, type Question, type Reply } from './conversation.ts';

/** Returns the complete chat with all branches. */
export function toExportJson(conversation: Conversation): string {
  return `${JSON.stringify({ format: 'parley-conversation', version: 1, ...conversation }, null, 2)}\n`;
}

/** Names of the user and of deployments. */
interface ExportNames {
  readonly you: string;
  readonly getName: (deployment: string) => string;
}

export type ExportFormat = 'json' | 'markdown';

/** Saves a chat as a file on the user's device. */
export function saveExport(conversation: Conversation, format: ExportFormat, names: ExportNames): void {
  const [extension, type, text] =
    format === 'json'
      ? ['json', 'application/json', toExportJson(conversation)]
      : ['md', 'text/markdown', toExportMarkdown(conversation, names)];
  saveFile(toFileName(conversation.title, extension), new Blob([text], { type }));
}

/** Returns the visible branch as readable text. */
export function toExportMarkdown(conversation: Conversation, { you, getName }: ExportNames): string {
  const parts = listVisibleTurns(conversation).map((turn) =>
    turn.kind === 'question' ? fromQuestion(turn, you) : fromReply(turn, getName(turn.deployment)),
  );
  return `# ${conversation.title}\n\n${parts.join('\n\n')}\n`;
}

function fromQuestion({ text, attachments, control }: Question, you: string): string {
  const selected = control && `${control.label}${control.value === undefined ? '' : `: ${JSON.stringify(control.value)}`}`;
  const names = attachments.map(({ title, url, type }) => `- ${title ?? url ?? type ?? ''}`).join('\n');
  return [`## ${you}`, text, selected, names].filter(Boolean).join('\n\n');
}

function fromReply({ text, custom }: Reply, name: string): string {
  const attachments = (custom.attachments ?? []).map(
    ({ title = '', type = 'text/markdown', data, url, reference_url: source }) => {
      const body = data === undefined ? (url ?? '') : type === 'text/markdown' ? data : `(${type})`;
      return [`### ${title}`, body, source].filter(Boolean).join('\n\n');
    },
  );
  return [`## ${name}`, text, ...attachments].filter(Boolean).join('\n\n');
}
