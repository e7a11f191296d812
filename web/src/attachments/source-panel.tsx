import { useCallback, useId, useState } from 'react';
import { escapePattern } from '#base/text/find-text.ts';
import { PlainText } from '../markdown/long-text.tsx';
import { IconButton } from '../parts/icon.tsx';
import { useFocusInside } from '../parts/use-focus-inside.ts';
import { useLoaded } from '../parts/use-loaded.ts';
import { useModalDialog } from '../parts/use-modal-dialog.ts';
import { usePage } from '../shell/page.tsx';
import { useStrings } from '../strings/strings.tsx';
import { AttachmentBody } from './attachment-body.tsx';
import { getAttachmentKind } from './attachment-kind.ts';
import type { CitedSource } from './citations.ts';
import { describeFileError, readContent } from './read-content.ts';
import { SaveButton } from './save-button.tsx';
import { SourceLink } from './source-link.tsx';
import { SourceRow } from './source-row.tsx';

interface SourcePanelProps {
  readonly sources: readonly CitedSource[];
  readonly selected: number;
  readonly show: (number: number) => void;
  readonly close: () => void;
}

/** Media query for a window with space for the panel next to the answer. */
const wideWindow = '(min-width: 75rem)';

/**
 * Shows the cited passage, its origin, and the surrounding document. In a wide window the panel is next to the answer, otherwise
 * it is a modal dialog.
 */
export function SourcePanel(props: SourcePanelProps) {
  const [isWide] = useState(() => matchMedia(wideWindow).matches);
  return isWide ? <SourceSidePanel {...props} /> : <SourceDialog {...props} />;
}

function SourceDialog(props: SourcePanelProps) {
  const { dialog, closeDialog } = useModalDialog(props.close);
  const headingId = useId();
  return (
    <dialog {...{ ref: dialog, className: 'source-panel', 'aria-labelledby': headingId, closedby: 'any' }}>
      <SourceView {...props} {...{ headingId, close: closeDialog }} />
    </dialog>
  );
}

/** A popover, so that it is above the answers, which clip their content. It stays open while the user reads and writes. */
function SourceSidePanel(props: SourcePanelProps) {
  const panel = useFocusInside('button', (element) => {
    for (const openPanel of document.querySelectorAll<HTMLElement>('.source-panel:popover-open')) openPanel.hidePopover();
    element.showPopover();
  });
  const headingId = useId();
  return (
    <aside
      {...{ ref: panel, className: 'source-panel', 'aria-labelledby': headingId, popover: 'manual' }}
      onKeyDown={({ key }) => key === 'Escape' && props.close()}
      onBeforeToggle={({ newState }) => newState === 'closed' && props.close()}
    >
      <SourceView {...props} headingId={headingId} />
    </aside>
  );
}

function SourceView({ sources, selected, show, close, headingId }: SourcePanelProps & { readonly headingId: string }) {
  const strings = useStrings();
  const source = sources.find(({ number }) => number === selected);
  if (source === undefined) return null;
  const { number, name, attachment } = source;
  const kind = getAttachmentKind(attachment);
  const { data, url, reference_url: reference = kind === 'link' ? url : undefined } = attachment;
  return (
    <>
      <div className="source-header">
        <h2 id={headingId}>
          <PlainText text={strings.showSource(number, name)} />
        </h2>
        <IconButton icon="close" label={strings.close} onClick={close} />
      </div>
      {sources.length > 1 && <SourceRow {...{ sources, selected, show }} />}
      <section key={number} className="source-passage">
        <div className="source-content">
          {kind !== 'link' && kind !== 'file' && <AttachmentBody {...{ attachment, kind }} />}
          {kind !== 'link' && <SaveButton {...{ attachment, name }} />}
        </div>
        {data !== undefined && reference !== undefined && isStoredText(reference) ? (
          <PassageInDocument passage={data} file={reference} />
        ) : (
          <SourceLink url={reference} />
        )}
      </section>
    </>
  );
}

/** A link to the document and a passage within it, or the reason that the document cannot be read. */
function PassageInDocument({ passage, file }: { readonly passage: string; readonly file: string }) {
  const strings = useStrings();
  const { service } = usePage();
  const load = useCallback(async () => (await readContent(service, { url: file })).text(), [service, file]);
  const { value: document, error } = useLoaded(load);
  const context = document === undefined ? undefined : locatePassage(document, passage);
  if (error !== undefined) return <p className="note">{describeFileError(error, strings)}</p>;
  if (context === undefined) return <SourceLink url={file} />;
  return (
    <>
      <SourceLink url={file} />
      <h3 className="overline">{strings.inDocument}</h3>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scroll container must be reachable by keyboard */}
      <div className="source-document" tabIndex={0}>
        <PlainText text={context.before} />
        <mark ref={scrollToMark}>
          <PlainText text={context.passage} />
        </mark>
        <PlainText text={context.after} />
      </div>
    </>
  );
}

/** Scrolls only within the document, so that the header of the panel stays visible. */
function scrollToMark(mark: HTMLElement | null): void {
  const container = mark?.parentElement;
  if (mark === null || container == null) return;
  const [markBox, containerBox] = [mark.getBoundingClientRect(), container.getBoundingClientRect()];
  container.scrollTop += markBox.top - containerBox.top - Math.max(0, (containerBox.height - markBox.height) / 2);
}

function isStoredText(url: string): boolean {
  return /^files\/.*\.(?:md|markdown|txt|text|csv|tsv|json|ya?ml|xml|log|rst)(?:#.*)?$/i.test(url);
}

/** A passage and the text around it. */
interface PassageContext {
  readonly before: string;
  readonly passage: string;
  readonly after: string;
}

/** Maximum number of characters shown around a passage of a long document. */
const maxContextChars = 20_000;
const maxWords = 2_000;
/** Number of leading words that locate a passage that was shortened or joined from pieces. */
const leadingWords = 12;

/** Finds a passage in a document, where line breaks may differ. Returns undefined if it is not found. */
export function locatePassage(document: string, passage: string): PassageContext | undefined {
  const words = passage.trim().split(/\s+/).slice(0, maxWords);
  if (words[0] === '') return undefined;
  const range = findWords(document, words) ?? findWords(document, words.slice(0, leadingWords));
  if (range === undefined) return undefined;
  const [from, to] = range;
  const [start, end] = [Math.max(0, from - maxContextChars), Math.min(document.length, to + maxContextChars)];
  return {
    before: `${start > 0 ? '… ' : ''}${document.slice(start, from)}`,
    passage: document.slice(from, to),
    after: `${document.slice(to, end)}${end < document.length ? ' …' : ''}`,
  };
}

function findWords(document: string, words: readonly string[]): readonly [number, number] | undefined {
  // Pattern bound: runs in the user's own tab, on escaped words of a quotation.
  const match = new RegExp(words.map(escapePattern).join('\\s+')).exec(document);
  return match === null ? undefined : [match.index, match.index + match[0].length];
}
