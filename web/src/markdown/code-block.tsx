import { Fragment, memo, type ReactNode, useEffect, useMemo, useState } from 'react';
import { DiagramFrame, HtmlFrame, wasInterrupted } from '../attachments/sandboxed-frame.tsx';
import { CopyButton } from '../parts/copy-button.tsx';
import { saveFile, toFileName } from '../parts/device-files.tsx';
import { IconButton } from '../parts/icon.tsx';
import { useStrings } from '../strings/strings.tsx';
import type { HighlightedCode } from './highlight.ts';

interface CodeBlockProps {
  readonly text: string;
  /** Info string of the fence, or ''. */
  readonly language: string;
  /** Whether the code is complete. Only complete code is highlighted. */
  readonly isComplete: boolean;
  /** Whether long lines wrap until the user changes it. */
  readonly isInitiallyWrapped?: boolean;
}

const maxHighlightedChars = 30_000;
const pieceLines = 100;
/** Longer lines are drawn on several lines, because browsers need minutes for the layout of a line of millions of characters. */
const maxLineChars = 10_000;
/** Longer complete code is folded. */
const maxFoldedLines = 60;
/** Longer diagrams are drawn only after a click, because they can freeze the page for seconds. */
const maxDiagramChars = 4_000;

/** File extensions that differ from the language name. */
const extensions: ReadonlyMap<string, string> = new Map(
  Object.entries({
    ...{ javascript: 'js', typescript: 'ts', python: 'py', ruby: 'rb', rust: 'rs', shell: 'sh', bash: 'sh', markdown: 'md' },
    ...{ yaml: 'yml', csharp: 'cs', kotlin: 'kt', plaintext: 'txt', text: 'txt' },
  }),
);

function getExtension(language: string): string {
  const name = language.toLowerCase();
  return extensions.get(name) ?? (/^[a-z\d]{1,10}$/.test(name) ? name : 'txt');
}

/** A code block with its language, copy and save buttons, and line wrapping. */
export function CodeBlock({ text, language, isComplete, isInitiallyWrapped = false }: CodeBlockProps) {
  const strings = useStrings();
  const [isWrapped, setIsWrapped] = useState(isInitiallyWrapped);
  const [name = ''] = language.split(/[\s{,]/, 1);
  const [isUnfolded, setIsUnfolded] = useState(false);
  const isLong = isComplete && text.split('\n', maxFoldedLines + 1).length > maxFoldedLines;
  const isFolded = isLong && !isUnfolded;
  const isDiagram = name.toLowerCase() === 'mermaid';
  const [invalidDiagram, setInvalidDiagram] = useState<string>();
  const isInvalid = isDiagram && invalidDiagram === text;
  const canPreview = isComplete && !isInvalid && (isDiagram || isPreviewable(name.toLowerCase(), text));
  const isAutomatic = useMemo(() => isDiagram && text.length <= maxDiagramChars && !wasInterrupted(text), [isDiagram, text]);
  const [wantsPreview = isAutomatic, setIsPreview] = useState<boolean>();
  const showsPreview = canPreview && wantsPreview;
  const preview = isDiagram ? (
    <DiagramFrame key={text} {...{ text, title: strings.diagram }} onInvalid={() => setInvalidDiagram(text)} />
  ) : (
    <HtmlFrame key={text} {...{ text, title: strings.preview }} />
  );
  const highlighted = useHighlighting(text, isComplete && text.length <= maxHighlightedChars ? name : '');
  return (
    <div className={isWrapped ? 'code-block wrapped' : 'code-block'}>
      <div className="code-header">
        <span className="soft small">{name}</span>
        <span className="code-tools">
          {canPreview && (
            <button type="button" className="button slim" aria-pressed={wantsPreview} onClick={() => setIsPreview(!wantsPreview)}>
              {strings.preview}
            </button>
          )}
          <IconButton icon="wrap" aria-pressed={isWrapped} label={strings.wrapLines} onClick={() => setIsWrapped(!isWrapped)} />
          <IconButton
            icon="save"
            label={strings.download}
            onClick={() => saveFile(toFileName('code', getExtension(name)), new Blob([text], { type: 'text/plain' }))}
          />
          <CopyButton text={() => text} />
        </span>
      </div>
      {isInvalid && <p className="soft small frame-note">{strings.diagramInvalid}</p>}
      {showsPreview ? (
        preview
      ) : (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a scroll container must be reachable by keyboard
        <pre tabIndex={0} className={isFolded ? 'folded' : undefined}>
          <code>{highlighted === undefined ? <Pieces text={text} /> : renderNode(highlighted)}</code>
        </pre>
      )}
      {isLong && !showsPreview && (
        <button
          {...{ type: 'button', className: 'button slim code-fold' }}
          aria-expanded={isUnfolded}
          onClick={() => setIsUnfolded(!isUnfolded)}
        >
          {isFolded ? strings.showAll : strings.showLess}
        </button>
      )}
    </div>
  );
}

/** Whether code is a web page or a drawing that `HtmlFrame` can show. */
function isPreviewable(language: string, text: string): boolean {
  return /^(html|svg)$/.test(language) || (language === 'xml' && /^\s*(<\?xml[^>]*>\s*)?<svg[\s>]/.test(text));
}

/** Splits long code, so that growing code renders only its last part again. */
function Pieces({ text }: { readonly text: string }) {
  const pieces = useMemo(() => {
    const lines = text.split('\n').flatMap(splitLine);
    const count = Math.ceil(lines.length / pieceLines);
    return Array.from({ length: count }, (_, index) => lines.slice(index * pieceLines, (index + 1) * pieceLines).join('\n'));
  }, [text]);
  // biome-ignore lint/suspicious/noArrayIndexKey: code grows at its end, so a piece keeps its place
  return pieces.map((piece, index) => <Piece key={index} text={index < pieces.length - 1 ? `${piece}\n` : piece} />);
}

function splitLine(line: string): readonly string[] {
  const count = Math.max(1, Math.ceil(line.length / maxLineChars));
  return Array.from({ length: count }, (_, index) => line.slice(index * maxLineChars, (index + 1) * maxLineChars));
}

const Piece = memo(({ text }: { readonly text: string }) => <span className="code-piece">{text}</span>);

/** Undefined until highlighting is loaded, if it cannot be loaded, or if the language is unknown. */
function useHighlighting(text: string, language: string): HighlightedCode | undefined {
  const [result, setResult] = useState<{ readonly text: string; readonly root: HighlightedCode }>();
  useEffect(() => {
    if (language === '') return;
    let isCanceled = false;
    import('./highlight.ts').then(
      ({ highlight }) => {
        const root = isCanceled ? undefined : highlight(text, language);
        if (root !== undefined) setResult({ text, root });
      },
      () => undefined,
    );
    return () => {
      isCanceled = true;
    };
  }, [text, language]);
  return result?.text === text ? result.root : undefined;
}

function renderNode(node: HighlightedCode | HighlightedCode['children'][number]): ReactNode {
  if (node.type === 'text') return node.value;
  if (node.type !== 'element' && node.type !== 'root') return null;
  // biome-ignore lint/suspicious/noArrayIndexKey: the parts never change
  const inner = node.children.map((child, index) => <Fragment key={index}>{renderNode(child)}</Fragment>);
  if (node.type === 'root') return inner;
  const { className } = node.properties;
  return <span className={Array.isArray(className) ? className.join(' ') : undefined}>{inner}</span>;
}
