import type { Conversation } from '../conversation/conversation.ts';
import { toExportJson } from '../conversation/export.ts';

interface ExportParts {
  readonly ids: readonly string[];
  /** Undefined if it was deleted meanwhile. */
  readonly read: (id: string) => Promise<Conversation | undefined>;
  readonly onProgress: (share: number) => void;
  readonly signal: AbortSignal;
}

/** A file with all conversations, each with all its branches: a list of what is written for a single one. */
export async function exportAll({ ids, read, onProgress, signal }: ExportParts): Promise<{ file: Blob; missing: number }> {
  const pieces: Blob[] = [];
  let missing = 0;
  for (const [at, id] of ids.entries()) {
    signal.throwIfAborted();
    const conversation = await read(id);
    if (conversation === undefined) missing += 1;
    // Texts are given out of memory as they are written.
    else pieces.push(new Blob([pieces.length === 0 ? '[' : ',', toExportJson(conversation)]));
    onProgress((at + 1) / ids.length);
  }
  const file = new Blob([...(pieces.length === 0 ? ['['] : pieces), ']\n'], { type: 'application/json' });
  return { file, missing };
}
