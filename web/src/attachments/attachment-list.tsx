import { Guard, lazyView } from '../parts/lazy-view.tsx';
import { useStrings } from '../strings/strings.tsx';
import type { DisplayedAttachment } from './attachment-kind.ts';

const AttachmentCard = lazyView(() => import('./attachment-body.tsx').then(({ AttachmentCard: view }) => view));

interface AttachmentListProps {
  readonly attachments: readonly DisplayedAttachment[];
  /** Whether the attachments belong to a question. */
  readonly isSent?: boolean;
}

/** Attachments as cards. */
export function AttachmentList({ attachments, isSent = false }: AttachmentListProps) {
  const strings = useStrings();
  if (attachments.length === 0) return null;
  return (
    <ul className="attachments" aria-label={strings.attachments}>
      {attachments.map((attachment, index) => (
        <li key={attachment.index ?? `at ${index}`}>
          <Guard fallback={<p className="note">{strings.brokenAttachment}</p>} pending={<div className="part-pending" />}>
            <AttachmentCard {...{ attachment, isSent }} />
          </Guard>
        </li>
      ))}
    </ul>
  );
}
