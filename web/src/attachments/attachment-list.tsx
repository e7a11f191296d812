import { lazy, Suspense, useState } from 'react';
import { Icon, type IconName } from '../parts/icon.tsx';
import { Guard } from '../parts/lazy-view.tsx';
import { useStrings } from '../strings/strings.tsx';
import { type AttachmentKind, type DisplayedAttachment, getAttachmentKind } from './attachment-kind.ts';
import { SaveButton } from './save-button.tsx';
import { SourceLink } from './source-link.tsx';
import './attachments.css';

const AttachmentBody = lazy(() => import('./attachment-body.tsx').then(({ AttachmentBody: body }) => ({ default: body })));

const maxOpenChars = 20_000;
const icons: Partial<Record<AttachmentKind, IconName>> = { image: 'picture', link: 'link' };

interface AttachmentListProps {
  readonly attachments: readonly DisplayedAttachment[];
  /**
   * Whether the user sent these attachments. Then only pictures and sound are unfolded, because the sender knows the other
   * content.
   */
  readonly isSent?: boolean;
}

/** Attachments as cards. Displayable content is unfolded, and all content can be downloaded. */
export function AttachmentList({ attachments, isSent = false }: AttachmentListProps) {
  const strings = useStrings();
  if (attachments.length === 0) return null;
  return (
    <ul className="attachments" aria-label={strings.attachments}>
      {attachments.map((attachment, index) => (
        <li key={attachment.index ?? `at ${index}`}>
          <Guard fallback={<p className="note">{strings.brokenAttachment}</p>}>
            <AttachmentCard {...{ attachment, isSent }} />
          </Guard>
        </li>
      ))}
    </ul>
  );
}

function AttachmentCard({ attachment, isSent }: { readonly attachment: DisplayedAttachment; readonly isSent: boolean }) {
  const strings = useStrings();
  const kind = getAttachmentKind(attachment);
  const { title, data, url, reference_url: reference } = attachment;
  const name = title || strings.attachment;
  const canPreview = kind !== 'file' && kind !== 'link';
  const isMedia = kind === 'image' || kind === 'audio';
  const isLong = kind === 'html' || kind === 'pdf' || (data?.length ?? 0) >= maxOpenChars;
  const [isOpen, setIsOpen] = useState(canPreview && (isMedia || !(isSent || isLong)));
  const head = (
    <>
      <Icon name={icons[kind] ?? 'file'} />
      <span className="attachment-name">{name}</span>
    </>
  );
  return (
    <div className="attachment">
      <div className="attachment-head">
        {canPreview ? (
          <button type="button" className="attachment-toggle" aria-expanded={isOpen} onClick={() => setIsOpen(!isOpen)}>
            {head}
            <Icon name={isOpen ? 'down' : 'right'} />
          </button>
        ) : (
          <span className="attachment-toggle">{head}</span>
        )}
        <SourceLink url={reference ?? (kind === 'link' ? url : undefined)} />
        {kind !== 'link' && <SaveButton attachment={attachment} name={name} />}
      </div>
      {isOpen && (
        <Suspense fallback={<p className="soft small">{strings.loading}</p>}>
          <AttachmentBody {...{ attachment, kind }} />
        </Suspense>
      )}
    </div>
  );
}
