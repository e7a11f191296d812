import { lazy, Suspense, useState } from 'react';
import { usePage } from '../page/page.tsx';
import { Guard } from '../parts/guard.tsx';
import { Icon, type IconName } from '../parts/icon.tsx';
import { saveFile, toFileName } from '../parts/save-file.ts';
import { useWords } from '../words/words.tsx';
import { type AttachmentKind, extensionOf, kindOf, type ShownAttachment } from './kind-of.ts';
import { readContent } from './read-content.ts';
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

/** Where it comes from; only addresses of the web are made links. */
function SourceLink({ url }: { readonly url: string | undefined }) {
  const words = useWords();
  if (url === undefined) return null;
  if (!/^https?:/i.test(url) || !URL.canParse(url)) return <span className="soft small attachment-source">{url}</span>;
  const { host } = new URL(url);
  return (
    <a
      className="attachment-source small"
      href={url}
      target="_blank"
      rel="noopener noreferrer"
      title={words.opensElsewhere}
      aria-label={words.openSource(host)}
    >
      {host}
      <Icon name="link" />
    </a>
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
