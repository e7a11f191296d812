import { usePage } from '../page/page.tsx';
import { Icon } from '../parts/icon.tsx';
import { saveFile, toFileName } from '../parts/save-file.ts';
import { useWords } from '../words/words.tsx';
import { extensionOf, type ShownAttachment } from './kind-of.ts';
import { readContent } from './read-content.ts';

/** Hands over the content of an attachment. */
export function SaveButton({ attachment, name }: { readonly attachment: ShownAttachment; readonly name: string }) {
  const words = useWords();
  const { service, announce } = usePage();
  const { type = 'text/markdown' } = attachment;
  const save = (): void => {
    const fileName = /\.\w{1,5}$/.test(name) ? name : toFileName(name, extensionOf(type));
    readContent(service, attachment).then(
      (content) => saveFile(fileName, content),
      () => announce(words.fileUnavailable),
    );
  };
  const label = `${words.download}: ${name}`;
  return (
    <button type="button" className="icon-button" aria-label={label} title={words.download} onClick={save}>
      <Icon name="save" />
    </button>
  );
}
