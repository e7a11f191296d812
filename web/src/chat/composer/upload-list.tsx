import type { Attachment } from '#contract/chat/message.ts';
import type { Strings } from '../../locales/en/page.ts';
import { Icon, IconButton } from '../../parts/icon.tsx';
import { fileNotStored } from '../../service/attach-file.ts';
import type { ErrorDetails } from '../../service/service-error.ts';
import { useStrings } from '../../strings/strings.tsx';
import type { FileRejection, Upload } from './use-uploads.ts';

export interface UploadListProps {
  readonly uploads: readonly Upload[];
  readonly remove: (id: string) => void;
}

/** Files of the message with their upload progress. */
export function UploadList({ uploads, remove }: UploadListProps) {
  const strings = useStrings();
  return (
    <ul className="uploads" aria-label={strings.attachments}>
      {uploads.map(({ id, name, progress, attachment, error, rejection }) => (
        <li key={id} className={error === undefined && rejection === undefined ? 'upload' : 'upload failed'}>
          <UploadIcon attachment={attachment} hasFailed={error !== undefined || rejection !== undefined} />
          <span className="upload-name" role={rejection === undefined ? undefined : 'alert'}>
            {error === undefined
              ? describeRejection(name, rejection, strings)
              : strings.uploadFailed(name, getReason(error, strings))}
          </span>
          {attachment === undefined && error === undefined && (
            <progress value={progress} aria-label={strings.uploading(name, Math.round(progress * 100))} />
          )}
          <IconButton icon="close" label={strings.removeAttachment(name)} onClick={() => remove(id)} />
        </li>
      ))}
    </ul>
  );
}

/** A preview of a picture. Other files have an icon. */
function UploadIcon({ attachment, hasFailed }: { readonly attachment: Attachment | undefined; readonly hasFailed: boolean }) {
  const { type = '', data } = attachment ?? {};
  if (data !== undefined && /^image\/(png|jpe?g|gif|webp|avif)$/.test(type)) {
    return <img className="upload-picture" src={`data:${type};base64,${data}`} alt="" />;
  }
  return <Icon name={hasFailed ? 'alert' : 'file'} />;
}

function getReason({ status, code, message }: ErrorDetails, strings: Strings): string {
  if (code === fileNotStored) return strings.fileNotStored;
  if (status === 404) return strings.noFileStore;
  if (status === 413) return strings.fileTooLarge;
  return status === 0 ? strings.unreachable : message;
}

function describeRejection(name: string, rejection: FileRejection | undefined, strings: Strings): string {
  if (rejection === undefined) return name;
  const { name: model, maxAttachments = 0 } = rejection.deployment;
  return rejection.reason === 'type' ? strings.fileTypeRejected(name, model) : strings.tooManyFiles(name, model, maxAttachments);
}
