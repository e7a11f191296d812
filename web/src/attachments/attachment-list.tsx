import { lazy, Suspense, useState } from 'react';
import { Guard } from '../parts/guard.tsx';
import { Icon, type IconName } from '../parts/icon.tsx';
import { useWords } from '../words/words.tsx';
import { type AttachmentKind, kindOf, type ShownAttachment } from './kind-of.ts';
import { SaveButton } from './save-button.tsx';
import { SourceLink } from './source-link.tsx';
import './attachments.css';

const AttachmentBody = lazy(() => import('./attachment-body.tsx').then(({ AttachmentBody: body }) => ({ default: body })));

const mostOpenChars = 20_000;
const icons: Partial<Record<AttachmentKind, IconName>> = { image: 'picture', link: 'link' };

/** Attachments as cards: what can be shown is unfolded, everything can be downloaded. */
export function AttachmentList({ attachments }: { readonly attachments: readonly ShownAttachment[] }) {
  const words = useWords();
  if (attachments.length === 0) return null;
  return (
    <ul className="attachments" aria-label={words.attachments}>
      {attachments.map((attachment, at) => (
        <li key={attachment.index ?? `at ${at}`}>
          <Guard instead={<p className="note">{words.brokenAttachment}</p>}>
            <AttachmentCard attachment={attachment} />
          </Guard>
        </li>
      ))}
    </ul>
  );
}

function AttachmentCard({ attachment }: { readonly attachment: ShownAttachment }) {
  const words = useWords();
  const kind = kindOf(attachment);
  const { title, data, url, reference_url: reference } = attachment;
  const name = title || words.attachment;
  const isShown = kind !== 'file' && kind !== 'link';
  const [isOpen, setIsOpen] = useState(isShown && (data?.length ?? 0) < mostOpenChars && kind !== 'html' && kind !== 'pdf');
  const head = (
    <>
      <Icon name={icons[kind] ?? 'file'} />
      <span className="attachment-name">{name}</span>
    </>
  );
  return (
    <div className="attachment">
      <div className="attachment-head">
        {isShown ? (
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
        <Suspense fallback={<p className="soft small">{words.loading}</p>}>
          <AttachmentBody {...{ attachment, kind }} />
        </Suspense>
      )}
    </div>
  );
}
