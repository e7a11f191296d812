import { usePage } from '../page/page.tsx';
import { Icon } from '../parts/icon.tsx';
import { saveFile, toFileName } from '../parts/save-file.ts';
import { useStrings } from '../strings/strings.tsx';
import { type DisplayedAttachment, getExtension } from './attachment-kind.ts';
import { readContent } from './read-content.ts';

export function SaveButton({ attachment, name }: { readonly attachment: DisplayedAttachment; readonly name: string }) {
  const strings = useStrings();
  const { service, announce } = usePage();
  const { type = 'text/markdown' } = attachment;
  const save = (): void => {
    const fileName = /\.\w{1,5}$/.test(name) ? name : toFileName(name, getExtension(type));
    readContent(service, attachment).then(
      (content) => saveFile(fileName, content),
      () => announce(strings.fileUnavailable),
    );
  };
  const label = `${strings.download}: ${name}`;
  return (
    <button type="button" className="icon-button" aria-label={label} title={strings.download} onClick={save}>
      <Icon name="save" />
    </button>
  );
}
