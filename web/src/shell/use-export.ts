import type { Conversation } from '../conversation/conversation.ts';
import type { ExportFormat } from '../conversation/export.ts';
import { useStrings } from '../strings/strings.tsx';
import { useGetName, usePage } from './page.tsx';

/** Returns a function that saves a chat as a file, and reports a failure. */
export function useExport(): (conversation: Promise<Conversation | undefined>, format: ExportFormat) => Promise<void> {
  const strings = useStrings();
  const { announce } = usePage();
  const getName = useGetName();
  return async (pendingConversation, format) => {
    try {
      const [conversation, { saveExport }] = await Promise.all([pendingConversation, import('../conversation/export.ts')]);
      if (conversation === undefined) announce(strings.exportFailed);
      else saveExport(conversation, format, { you: strings.you, getName });
    } catch {
      announce(strings.exportFailed);
    }
  };
}
