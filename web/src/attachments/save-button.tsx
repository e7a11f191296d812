import { saveFile, toFileName } from '../parts/device-files.tsx';
import { IconButton } from '../parts/icon.tsx';
import { toErrorDetails } from '../service/service-error.ts';
import { usePage } from '../shell/page.tsx';
import { useStrings } from '../strings/strings.tsx';
import { type DisplayedAttachment, getExtension } from './attachment-kind.ts';
import { describeFileError, readContent } from './read-content.ts';

export function SaveButton({ attachment, name }: { readonly attachment: DisplayedAttachment; readonly name: string }) {
  const strings = useStrings();
  const { service, announce } = usePage();
  const { type = 'text/markdown', data, reference_url: reference } = attachment;
  const isPassage = data !== undefined && reference?.startsWith('files/') === true;
  const save = (): void => {
    const savedName = isPassage ? `${name.replace(/\.\w{1,5}$/, '')} ${strings.passage}` : name;
    const fileName = /\.\w{1,5}$/.test(savedName) ? savedName : toFileName(savedName, getExtension(type));
    readContent(service, attachment).then(
      (content) => saveFile(fileName, content),
      (error: unknown) => announce(describeFileError(toErrorDetails(error), strings)),
    );
  };
  const action = isPassage ? strings.downloadPassage : strings.download;
  return <IconButton icon="save" label={action} aria-label={`${action}: ${name}`} onClick={save} />;
}
