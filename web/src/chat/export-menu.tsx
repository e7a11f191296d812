import type { Conversation } from '../conversation/conversation.ts';
import { toExportJson, toExportMarkdown } from '../conversation/export.ts';
import { Icon } from '../parts/icon.tsx';
import { Menu } from '../parts/menu.tsx';
import { saveFile, toFileName } from '../parts/save-file.ts';
import { useWords } from '../words/words.tsx';

/** Takes the conversation out of the browser. */
export function ExportMenu({ conversation }: { readonly conversation: Conversation }) {
  const words = useWords();
  const save = (extension: string, type: string, text: string): void =>
    saveFile(toFileName(conversation.title, extension), new Blob([text], { type }));
  return (
    <Menu label={words.exportConversation} icon={<Icon name="save" />}>
      <button type="button" onClick={() => save('json', 'application/json', toExportJson(conversation))}>
        {words.asJson}
      </button>
      <button type="button" onClick={() => save('md', 'text/markdown', toExportMarkdown(conversation, words.you))}>
        {words.asMarkdown}
      </button>
    </Menu>
  );
}
