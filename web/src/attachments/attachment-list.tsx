import { lazy, Suspense, useEffect, useRef, useState } from 'react';
import { usePage } from '../page/page.tsx';
import { Guard } from '../parts/guard.tsx';
import { Icon, type IconName } from '../parts/icon.tsx';
import { saveFile, toFileName } from '../parts/save-file.ts';
import { useWords } from '../words/words.tsx';
import type { AskedAttachment } from './cited.ts';
import { type AttachmentKind, extensionOf, kindOf, type ShownAttachment } from './kind-of.ts';
import { readContent } from './read-content.ts';
import { SourceLink } from './source-link.tsx';
import './attachments.css';

const AttachmentBody = lazy(() => import('./attachment-body.tsx').then(({ AttachmentBody: body }) => ({ default: body })));

const mostOpenChars = 20_000;
const icons: Partial<Record<AttachmentKind, IconName>> = { image: 'picture', link: 'link' };

interface AttachmentListProps {
  readonly attachments: readonly ShownAttachment[];
  /** By number that a text cites, the place of an attachment. */
  readonly cited?: ReadonlyMap<number, number>;
  /** Is unfolded, brought into sight and focused. */
  readonly asked?: AskedAttachment | undefined;
}

/** Attachments as cards: what can be shown is unfolded, everything can be downloaded. */
export function AttachmentList({ attachments, cited, asked }: AttachmentListProps) {
  const words = useWords();
  const numberOf = new Map(Array.from(cited ?? [], ([number, at]) => [at, number]));
  if (attachments.length === 0) return null;
  return (
    <ul className="attachments" aria-label={words.attachments}>
      {attachments.map((attachment, at) => (
        <li key={attachment.index ?? `at ${at}`}>
          <Guard instead={<p className="note">{words.brokenAttachment}</p>}>
            <AttachmentCard {...{ attachment }} number={numberOf.get(at)} asked={asked?.at === at ? asked : undefined} />
          </Guard>
        </li>
      ))}
    </ul>
  );
}

interface AttachmentCardProps {
  readonly attachment: ShownAttachment;
  readonly number: number | undefined;
  readonly asked: AskedAttachment | undefined;
}

function AttachmentCard({ attachment, number, asked }: AttachmentCardProps) {
  const words = useWords();
  const kind = kindOf(attachment);
  const { title, data, url, reference_url: reference } = attachment;
  const name = title || words.attachment;
  const isShown = kind !== 'file' && kind !== 'link';
  const [isOpen, setIsOpen] = useState(isShown && (data?.length ?? 0) < mostOpenChars && kind !== 'html' && kind !== 'pdf');
  const card = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (asked === undefined || card.current === null) return;
    if (isShown) setIsOpen(true);
    card.current.scrollIntoView({ block: 'center' });
    (card.current.querySelector<HTMLElement>('button, a') ?? card.current).focus({ preventScroll: true });
  }, [asked, isShown]);
  const head = (
    <>
      {number !== undefined && !name.startsWith('[') && <span className="attachment-number">{number}</span>}
      <Icon name={icons[kind] ?? 'file'} />
      <span className="attachment-name">{name}</span>
    </>
  );
  return (
    <div ref={card} className={asked === undefined ? 'attachment' : 'attachment asked'} tabIndex={-1}>
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

function SaveButton({ attachment, name }: { readonly attachment: ShownAttachment; readonly name: string }) {
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
