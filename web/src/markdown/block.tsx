import type { Token, Tokens } from 'marked';
import { memo, type ReactNode, useState } from 'react';
import { Icon, TextButton } from '../parts/icon.tsx';
import { useLanguage, useStrings } from '../strings/strings.tsx';
import { CodeBlock } from './code-block.tsx';
import { Formula } from './formula.tsx';
import type { AlertToken, DetailsToken, FootnoteToken } from './html-parts.ts';
import { Inline } from './inline.tsx';
import type { MathToken } from './lexer.ts';
import { PlainText } from './long-text.tsx';
import { RenderedWhenNear } from './rendered-when-near.tsx';

interface BlockProps {
  readonly token: Token;
  /** Whether the block may still grow. */
  readonly isUnfinished: boolean;
  /** Whether the block has no `dir`, so that its text counts for the `dir="auto"` of an outer element. */
  readonly isInner?: boolean;
}

/** A block of a text, rendered again only when it changes. */
export const Block = memo(
  ({ token, isUnfinished, isInner = false }: BlockProps) => renderBlock(token, isUnfinished, isInner),
  (before, after) => before.isUnfinished === after.isUnfinished && hasSameSource(before.token, after.token),
);

/** Whether two blocks have the same source, so that they look the same. */
export function hasSameSource(left: Token, right: Token | undefined): boolean {
  return left === right || left.raw === right?.raw;
}

function Blocks({ tokens }: { readonly tokens: readonly Token[] }): ReactNode {
  // biome-ignore lint/suspicious/noArrayIndexKey: blocks have no other identity and never move
  return tokens.map((token, index) => <Block key={index} token={token} isUnfinished={false} isInner />);
}

function renderBlock(token: Token, isUnfinished: boolean, isInner: boolean): ReactNode {
  switch (token.type) {
    case 'heading':
      return <Heading token={token as Tokens.Heading} />;
    case 'paragraph':
      return (
        <p dir={isInner ? undefined : 'auto'}>
          <Inline tokens={token.tokens ?? []} />
        </p>
      );
    case 'code':
      return <CodeBlock text={token.text} language={token.lang ?? ''} isComplete={!isUnfinished} />;
    case 'blockquote':
      return (
        <blockquote dir={isInner ? undefined : 'auto'}>
          <Blocks tokens={token.tokens ?? []} />
        </blockquote>
      );
    case 'details':
      return <Details token={token as unknown as DetailsToken} />;
    case 'alert':
      return <Alert token={token as unknown as AlertToken} />;
    case 'footnote':
      return <Footnote token={token as unknown as FootnoteToken} />;
    case 'list':
      return <List token={token as Tokens.List} />;
    case 'table':
      return <Table token={token as Tokens.Table} />;
    case 'hr':
      return <hr />;
    case 'mathBlock':
      return <Formula text={(token as MathToken).text} isBlock />;
    case 'text':
      return token.tokens === undefined ? token.text : <Inline tokens={token.tokens} />;
    case 'html':
      if (/^(?:<br\s*\/?>\s*)+$/i.test(token.raw)) return null;
      return (
        <p className="plain" dir="auto">
          <PlainText text={token.raw.trim()} />
        </p>
      );
    default:
      return null;
  }
}

function Details({ token: { isOpen, summary, tokens } }: { readonly token: DetailsToken }) {
  const strings = useStrings();
  return (
    <details open={isOpen}>
      <summary dir="auto">{summary.length === 0 ? strings.more : <Inline tokens={summary} />}</summary>
      <Blocks tokens={tokens} />
    </details>
  );
}

const alertIcons = { note: 'info', important: 'info', tip: 'bulb', warning: 'alert', caution: 'alert' } as const;

function Alert({ token: { kind, tokens } }: { readonly token: AlertToken }) {
  const strings = useStrings();
  return (
    <blockquote className="markdown-alert" data-kind={kind} dir="auto">
      <p className="markdown-alert-title">
        <Icon name={alertIcons[kind]} />
        {strings.alertKinds[kind]}
      </p>
      <Blocks tokens={tokens} />
    </blockquote>
  );
}

function Footnote({ token: { id, tokens } }: { readonly token: FootnoteToken }) {
  return (
    <p className="footnote small" data-footnote={id} dir="auto" tabIndex={-1}>
      <sup>{id}</sup> <Inline tokens={tokens} />
    </p>
  );
}

/** Headings of an answer rank below those of the page. */
function Heading({ token: { depth, tokens } }: { readonly token: Tokens.Heading }) {
  const Tag = `h${Math.min(depth + 2, 6)}` as 'h3';
  return (
    <Tag className={`heading-${depth}`} dir="auto">
      <Inline tokens={tokens} />
    </Tag>
  );
}

const itemsInPiece = 50;

/** Splits a long list into several, so that only those near the view are rendered. */
function List({ token }: { readonly token: Tokens.List }) {
  const { items, start } = token;
  if (items.length <= itemsInPiece) return <Items {...token} />;
  const count = Math.ceil(items.length / itemsInPiece);
  return Array.from({ length: count }, (_, index) => {
    const pieceItems = items.slice(index * itemsInPiece, (index + 1) * itemsInPiece);
    const first = typeof start === 'number' ? start + index * itemsInPiece : start;
    return (
      // biome-ignore lint/suspicious/noArrayIndexKey: a list grows at its end, so a piece keeps its place
      <Piece key={index} items={pieceItems} isEager={index === 0 || index >= count - 2} ordered={token.ordered} start={first} />
    );
  });
}

interface PieceProps extends Pick<Tokens.List, 'items' | 'ordered' | 'start'> {
  readonly isEager: boolean;
}

const Piece = memo(
  ({ isEager, ...list }: PieceProps) => (
    <RenderedWhenNear text={list.items.map(({ raw }) => raw).join('')} isEager={isEager}>
      {() => <Items {...list} />}
    </RenderedWhenNear>
  ),
  (before, after) =>
    before.isEager === after.isEager &&
    before.items.length === after.items.length &&
    before.items.every((item, index) => item === after.items[index]),
);

function Items({ ordered, start, items }: Pick<Tokens.List, 'ordered' | 'start' | 'items'>) {
  const Tag = ordered ? 'ol' : 'ul';
  return (
    <Tag start={ordered && typeof start === 'number' ? start : undefined}>
      {items.map((item, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: items have no other identity and never move
        <Item key={index} item={item} />
      ))}
    </Tag>
  );
}

const Item = memo(
  ({ item }: { readonly item: Tokens.ListItem }) => (
    <li className={item.task ? 'task' : undefined} dir="auto">
      {item.task && (
        <input type="checkbox" checked={item.checked === true} disabled aria-label={item.text.slice(0, 80)} readOnly />
      )}
      <Blocks tokens={item.tokens.filter(({ type }) => type !== 'checkbox')} />
    </li>
  ),
  (before, after) => before.item.raw === after.item.raw,
);

const initialRows = 100;

/** Shows the first rows of a long table, and more on demand. */
function Table({ token: { header, rows, align } }: { readonly token: Tokens.Table }) {
  const { strings, locale } = useLanguage();
  const [showsAll, setShowsAll] = useState(false);
  const visibleRows = showsAll ? rows : rows.slice(0, initialRows);
  const hiddenRows = rows.length - visibleRows.length;
  return (
    <>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scroll container must be reachable by keyboard */}
      <div className="table-frame" tabIndex={0}>
        <table dir={isRightToLeft(header.map(({ text }) => text).join(' ')) ? 'rtl' : undefined}>
          <thead>
            <tr>
              {header.map((cell, index) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: cells have no other identity and never move
                <th key={index} scope="col" dir={toCellDirection(cell)} className={align[index] ?? undefined}>
                  <Inline tokens={cell.tokens} />
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {visibleRows.map((row, index) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: as above
              <Row key={index} row={row} />
            ))}
          </tbody>
        </table>
      </div>
      {hiddenRows > 0 && (
        <TextButton className="button slim" onClick={() => setShowsAll(true)}>
          {strings.showMoreRows(hiddenRows, locale)}
        </TextButton>
      )}
    </>
  );
}

const Row = memo(
  ({ row }: { readonly row: readonly Tokens.TableCell[] }) => (
    <tr>
      {row.map((cell, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: as above
        <td key={index} dir={toCellDirection(cell)} className={cell.align ?? undefined}>
          <Inline tokens={cell.tokens} />
        </td>
      ))}
    </tr>
  ),
  (before, after) =>
    before.row === after.row ||
    (before.row.length === after.row.length && before.row.every(({ text }, index) => text === after.row[index]?.text)),
);

/** A cell without letters, such as a number, has the direction of the table. */
function toCellDirection({ text }: Tokens.TableCell): 'auto' | undefined {
  return /\p{L}/u.test(text) ? 'auto' : undefined;
}

const firstLetter = /\p{L}/u;
const rightToLeftLetter =
  /^[\p{Script=Arabic}\p{Script=Hebrew}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}\p{Script=Samaritan}\p{Script=Mandaic}\p{Script=Adlam}\p{Script=Hanifi_Rohingya}]/u;

/** Returns whether the first letter of a text belongs to a right-to-left script. `dir="auto"` uses the same rule. */
export function isRightToLeft(text: string): boolean {
  const [letter = ''] = firstLetter.exec(text) ?? [];
  return rightToLeftLetter.test(letter);
}
