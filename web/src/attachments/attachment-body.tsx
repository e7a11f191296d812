import { type ReactNode, useEffect, useMemo, useRef, useState } from 'react';
import { toEssence } from '#base/http/media-type.ts';
import { CodeBlock } from '../markdown/code-block.tsx';
import { PlainText, TextStart } from '../markdown/long-text.tsx';
import { Markdown } from '../markdown/markdown.tsx';
import { Icon, IconButton, type IconName, TextButton } from '../parts/icon.tsx';
import { usePage } from '../shell/page.tsx';
import { useLanguage, useStrings } from '../strings/strings.tsx';
import {
  type AttachmentKind,
  canFreezePage,
  type DisplayedAttachment,
  getAttachmentKind,
  isSvg,
  isTextKind,
} from './attachment-kind.ts';
import { Chart, maxRows } from './chart.tsx';
import { readContent } from './read-content.ts';
import { HtmlFrame, useDrawingMark, wasInterrupted } from './sandboxed-frame.tsx';
import { SaveButton } from './save-button.tsx';
import { SourceLink } from './source-link.tsx';
import './attachments.css';

/** Maximum number of columns of a table. Browsers need seconds for the layout of 100,000 cells. */
const maxColumns = 100;

/** Patterns of a cell and its separator. Quoted cells can contain any character (RFC 4180). */
const cellPatterns = {
  ',': /(?:"((?:[^"]|"")*)"|([^,\n]*))(,|\n|$)/y,
  '\t': /(?:"((?:[^"]|"")*)"|([^\t\n]*))(\t|\n|$)/y,
} as const;

const maxOpenChars = 20_000;
const icons: Partial<Record<AttachmentKind, IconName>> = { image: 'picture', link: 'link' };

interface AttachmentCardProps {
  readonly attachment: DisplayedAttachment;
  /** Whether the user sent the attachment. Then only a picture or sound is unfolded. */
  readonly isSent: boolean;
}

/** One attachment. Short displayable content starts unfolded. All content except links can be downloaded. */
export function AttachmentCard({ attachment, isSent }: AttachmentCardProps) {
  const strings = useStrings();
  const kind = getAttachmentKind(attachment);
  const { title, data, url, reference_url: reference } = attachment;
  const name = title || strings.attachment;
  const canPreview = kind !== 'file' && kind !== 'link';
  const isMedia = kind === 'image' || kind === 'audio';
  const isLong = kind === 'html' || kind === 'pdf' || (data?.length ?? 0) >= maxOpenChars;
  const [isOpen, setIsOpen] = useState(canPreview && !wasInterrupted(data ?? url ?? '') && (isMedia || !(isSent || isLong)));
  const label = (
    <>
      <Icon name={icons[kind] ?? 'file'} />
      <span className="attachment-name">
        <PlainText text={name} />
      </span>
    </>
  );
  return (
    <div className="attachment">
      <div className="attachment-header">
        {canPreview ? (
          <button type="button" className="attachment-toggle" aria-expanded={isOpen} onClick={() => setIsOpen(!isOpen)}>
            {label}
            <Icon name={isOpen ? 'down' : 'right'} />
          </button>
        ) : (
          <span className="attachment-toggle">{label}</span>
        )}
        <SourceLink url={reference ?? (kind === 'link' ? url : undefined)} />
        {kind !== 'link' && <SaveButton attachment={attachment} name={name} />}
      </div>
      {isOpen && <AttachmentBody {...{ attachment, kind }} />}
    </div>
  );
}

interface AttachmentBodyProps {
  readonly attachment: DisplayedAttachment;
  readonly kind: AttachmentKind;
}

/** Shows the content of an attachment by its kind. */
export function AttachmentBody({ attachment, kind }: AttachmentBodyProps) {
  const strings = useStrings();
  const content = useContent(attachment);
  if (content === undefined) return <p className="soft small attachment-body">{strings.loading}</p>;
  if (content === 'broken') return <p className="error-text attachment-body">{strings.brokenAttachment}</p>;
  const isText = isTextKind(kind, attachment.type) && kind !== 'image';
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a scroll container must be reachable by keyboard
    <div className="attachment-body" tabIndex={0}>
      {isText ? renderText({ attachment, kind }, content.text) : <BlobView {...{ attachment, kind, content }} />}
    </div>
  );
}

function renderText({ attachment, kind }: AttachmentBodyProps, text: string): ReactNode {
  if (kind === 'markdown') return <TextStart text={text}>{(start) => <Markdown text={start} isGrowing={false} />}</TextStart>;
  if (kind === 'table') return <TableView text={text} />;
  if (kind === 'chart') return <Chart text={text} title={attachment.title ?? ''} />;
  if (kind === 'html') return <HtmlFrame text={text} title={attachment.title ?? ''} />;
  const language = getLanguage(attachment);
  return <CodeBlock {...{ text, language }} isComplete isInitiallyWrapped={language === 'txt' || language === 'plain'} />;
}

function BlobView({ attachment, kind, content: { blob, text } }: AttachmentBodyProps & { readonly content: Content }) {
  const strings = useStrings();
  const url = useObjectUrl(blob);
  const title = attachment.title ?? strings.attachment;
  const [isDrawn, setIsDrawn] = useState(() => !isSvg(attachment.type) || !canFreezePage(text));
  if (url === undefined) return null;
  if (kind === 'image' && !isDrawn) return <TextButton onClick={() => setIsDrawn(true)}>{strings.preview}</TextButton>;
  if (kind === 'image') return <Picture {...{ url, title }} content={attachment.data ?? attachment.url ?? ''} />;
  // biome-ignore lint/a11y/useMediaCaption: media from assistants has no captions
  if (kind === 'audio') return <audio controls src={url} />;
  // Browsers cannot show a PDF in a sandbox. Only PDFs reach this line, and always with the PDF type.
  return <iframe className="attachment-frame" src={url} title={title} />;
}

interface Content {
  readonly blob: Blob;
  readonly text: string;
}

function useContent(attachment: DisplayedAttachment): Content | 'broken' | undefined {
  const { service } = usePage();
  const [content, setContent] = useState<Content | 'broken'>();
  const { type, data, url } = attachment;
  useEffect(() => {
    let isCanceled = false;
    const source = { ...(type !== undefined && { type }), ...(data === undefined ? { url: url ?? '' } : { data }) };
    const load = async (): Promise<Content> => {
      const blob = await readContent(service, source);
      return { blob, text: await blob.text() };
    };
    load().then(
      (loaded) => !isCanceled && setContent(loaded),
      () => !isCanceled && setContent('broken'),
    );
    return () => {
      isCanceled = true;
    };
  }, [service, type, data, url]);
  return content;
}

/** Returns an object URL of the content, which is revoked when the component unmounts. */
function useObjectUrl(blob: Blob): string | undefined {
  const [url, setUrl] = useState<string>();
  useEffect(() => {
    const objectUrl = URL.createObjectURL(blob);
    setUrl(objectUrl);
    return () => URL.revokeObjectURL(objectUrl);
  }, [blob]);
  return url;
}

function getLanguage({ type = '', title = '' }: DisplayedAttachment): string {
  const extension = /\.(\w{1,5})$/.exec(title)?.[1];
  // Pattern bound: runs in the user's own tab, on one MIME type.
  return extension ?? /([a-z]+)$/.exec(toEssence(type) ?? '')?.[1] ?? '';
}

/** A picture. A click enlarges it to the window size. */
function Picture({ url, title, content }: { readonly url: string; readonly title: string; readonly content: string }) {
  const strings = useStrings();
  const removeMark = useDrawingMark(content);
  const dialog = useRef<HTMLDialogElement>(null);
  return (
    <>
      <button
        {...{ type: 'button', className: 'picture', 'aria-haspopup': 'dialog', 'aria-label': strings.enlarge(title) }}
        onClick={() => dialog.current?.showModal()}
      >
        <img className="attachment-image" src={url} alt={title} onLoad={removeMark} onError={removeMark} />
      </button>
      <dialog {...{ ref: dialog, className: 'picture-dialog', 'aria-label': title, closedby: 'any' }}>
        <IconButton icon="close" label={strings.close} onClick={() => dialog.current?.close()} />
        <img src={url} alt={title} />
      </dialog>
    </>
  );
}

/** Shows separated values as a table. A large table shows only its first rows and columns. */
export function TableView({ text }: { readonly text: string }) {
  const { strings, locale } = useLanguage();
  const rows = useMemo(() => parseTable(text), [text]);
  const [header = [], ...body] = rows.slice(0, maxRows).map((row) => row.slice(0, maxColumns));
  const hiddenRows = rows.length - maxRows;
  const hiddenColumns = rows.reduce((most, row) => Math.max(most, row.length), 0) - maxColumns;
  return (
    <>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scroll container must be reachable by keyboard */}
      <section className="table-frame" tabIndex={0} aria-label={strings.asTable}>
        <table>
          <thead>
            <tr>
              {header.map((cell, index) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: cells have no other identity and never move
                <th key={index} scope="col">
                  {cell}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {body.map((row, index) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: as above
              <tr key={index}>
                {row.map((cell, column) => (
                  // biome-ignore lint/suspicious/noArrayIndexKey: as above
                  <td key={column} className={/^-?[\d.,\s]+%?$/.test(cell) ? 'number' : undefined}>
                    {cell}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </section>
      {hiddenRows > 0 && <p className="soft small">{strings.moreRows(hiddenRows.toLocaleString(locale))}</p>}
      {hiddenColumns > 0 && <p className="soft small">{strings.moreColumns(hiddenColumns.toLocaleString(locale))}</p>}
    </>
  );
}

/** Parses comma- or tab-separated values. */
export function parseTable(text: string): readonly (readonly string[])[] {
  // Pattern bound: runs in the user's own tab, on one table file.
  const plain = text.replaceAll('\r\n', '\n').replace(/\n+$/, '');
  const [firstLine = ''] = plain.split('\n', 1);
  const cellPattern = cellPatterns[firstLine.includes('\t') ? '\t' : ','];
  const rows: string[][] = [];
  let row: string[] = [];
  let at = 0;
  while (at <= plain.length) {
    cellPattern.lastIndex = at;
    const [match, quoted, bare = '', end = ''] = cellPattern.exec(plain) ?? [plain.slice(at), undefined, plain.slice(at)];
    row.push(quoted === undefined ? bare : quoted.replaceAll('""', '"'));
    at += match.length;
    if (end === '' || end === '\n') {
      rows.push(row);
      row = [];
    }
    if (end === '') break;
  }
  return rows;
}
