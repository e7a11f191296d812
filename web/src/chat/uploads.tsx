import type { Attachment } from '#contract/message.ts';
import { Icon } from '../parts/icon.tsx';
import { fileNotKept } from '../service/attach-file.ts';
import type { Fault } from '../service/fault.ts';
import type { Words } from '../words/english.ts';
import { useWords } from '../words/words.tsx';
import type { Upload } from './use-uploads.ts';

/** The files of the message that is being written, each with how far it has come. */
export function Uploads({ uploads, remove }: { readonly uploads: readonly Upload[]; readonly remove: (id: string) => void }) {
  const words = useWords();
  if (uploads.length === 0) return null;
  return (
    <ul className="uploads" aria-label={words.attachments}>
      {uploads.map(({ id, name, share, attachment, fault }) => (
        <li key={id} className={fault === undefined ? 'upload' : 'upload failed'}>
          <Look attachment={attachment} hasFailed={fault !== undefined} />
          <span className="upload-name">{fault === undefined ? name : words.uploadFailed(name, whyOf(fault, words))}</span>
          {attachment === undefined && fault === undefined && (
            <progress value={share} aria-label={words.uploading(name, Math.round(share * 100))} />
          )}
          <button
            type="button"
            className="icon-button"
            aria-label={words.removeAttachment(name)}
            title={words.removeAttachment(name)}
            onClick={() => remove(id)}
          >
            <Icon name="close" />
          </button>
        </li>
      ))}
    </ul>
  );
}

/** A picture as it is; an icon for everything else. */
function Look({ attachment, hasFailed }: { readonly attachment: Attachment | undefined; readonly hasFailed: boolean }) {
  const { type = '', data } = attachment ?? {};
  if (data !== undefined && /^image\/(png|jpe?g|gif|webp|avif)$/.test(type)) {
    return <img className="upload-picture" src={`data:${type};base64,${data}`} alt="" />;
  }
  return <Icon name={hasFailed ? 'alert' : 'file'} />;
}

function whyOf({ status, code, message }: Fault, words: Words): string {
  if (code === fileNotKept) return words.fileNotKept;
  if (status === 404) return words.noFileStore;
  if (status === 413) return words.fileTooLarge;
  return status === 0 ? words.unreachable : message;
}
