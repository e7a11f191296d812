import type { Token, Tokens } from 'marked';
import { type MouseEvent, type ReactNode, use } from 'react';
import { citationMarks, listRange, SourcesContext } from '../attachments/citations.ts';
import { Icon } from '../parts/icon.tsx';
import { useStrings } from '../strings/strings.tsx';
import { Formula } from './formula.tsx';
import { type FootnoteRefToken, nestTags, type TagToken } from './html-parts.ts';
import { decodeCharacterReferences, type MathToken } from './lexer.ts';
import { PlainText } from './long-text.tsx';

/** Inline parts of a text. */
export function Inline({ tokens }: { readonly tokens: readonly Token[] }): ReactNode {
  // biome-ignore lint/suspicious/noArrayIndexKey: parts have no other identity and never move
  return nestTags(tokens).map((token, index) => <Part key={index} token={token} />);
}

function Part({ token }: { readonly token: Token | TagToken }): ReactNode {
  const inner = 'tokens' in token && token.tokens !== undefined ? <Inline tokens={token.tokens} /> : null;
  switch (token.type) {
    case 'strong':
      return <strong>{inner}</strong>;
    case 'em':
      return <em>{inner}</em>;
    case 'del':
      return <del>{inner}</del>;
    case 'codespan':
      return <code>{token.text}</code>;
    case 'br':
      return <br />;
    case 'link':
      return <Link token={token as Tokens.Link}>{inner}</Link>;
    case 'image':
      return <Picture token={token as Tokens.Image} />;
    case 'tag': {
      const { name: Tag } = token as TagToken;
      return <Tag>{inner}</Tag>;
    }
    case 'footnoteRef':
      return <FootnoteRef id={(token as FootnoteRefToken).id} />;
    case 'mathText':
      return <Formula text={(token as MathToken).text} isBlock={false} />;
    case 'text':
      return inner ?? drawText(decodeCharacterReferences(token.text));
    case 'escape':
      return token.text;
    case 'checkbox':
      return null;
    default:
      return token.raw;
  }
}

/** Scrolls to the footnote. A link would change the address of the page. */
function FootnoteRef({ id }: { readonly id: string }) {
  const strings = useStrings();
  const show = ({ currentTarget }: MouseEvent<HTMLElement>): void => {
    const notes = currentTarget.closest('.reply, .markdown')?.querySelectorAll<HTMLElement>('[data-footnote]') ?? [];
    const note = [...notes].find(({ dataset }) => dataset.footnote === id);
    note?.scrollIntoView({ block: 'nearest' });
    note?.focus();
  };
  return (
    <sup>
      <button type="button" className="citation" aria-label={strings.showFootnote(id)} onClick={show}>
        {id}
      </button>
    </sup>
  );
}

/** Only text with citation marks gets an additional component, because an answer can have thousands of text parts. */
function drawText(text: string): ReactNode {
  return text.search(citationMarks) === -1 ? <PlainText text={text} /> : <CitedText text={text} />;
}

function Link({ token: { href }, children }: { readonly token: Tokens.Link; readonly children: ReactNode }) {
  const address = safeLink(href);
  const inner = <SourcesContext value={undefined}>{children}</SourcesContext>;
  if (address === undefined) return <span className="inactive-link">{inner}</span>;
  return (
    <a href={address} target="_blank" rel="noopener noreferrer">
      {inner}
    </a>
  );
}

/**
 * Shows pictures with embedded data. A picture on another host would reveal the reader to its owner, so only its name is shown.
 */
function Picture({ token: { href, text } }: { readonly token: Tokens.Image }) {
  const strings = useStrings();
  if (/^data:image\/(png|jpe?g|gif|webp);base64,/i.test(href)) return <img src={href} alt={text} />;
  const address = safeLink(href);
  if (address === undefined) return text;
  return (
    <a className="remote-picture" href={address} target="_blank" rel="noopener noreferrer">
      <Icon name="picture" />
      {text || strings.remoteImage(new URL(address).host)}
      <span className="soft small">{strings.remoteImage(new URL(address).host)}</span>
    </a>
  );
}

/** Maximum number of marks in one text. Texts with more marks are not meant for reading. */
const maxMarks = 100;
const maxNameLength = 80;

/** A text whose citation marks are links. */
function CitedText({ text }: { readonly text: string }): ReactNode {
  if (use(SourcesContext) === undefined) return <PlainText text={text} />;
  const parts: ReactNode[] = [];
  let end = 0;
  for (const { 0: mark, index } of [...text.matchAll(citationMarks)].slice(0, maxMarks)) {
    parts.push(<PlainText key={`text ${end}`} text={text.slice(end, index)} />, <CitationMark key={index} mark={mark} />);
    end = index + mark.length;
  }
  return [...parts, <PlainText key={`text ${end}`} text={text.slice(end)} />];
}

/**
 * A mark with a single number is one button, so that it is easy to press. Ranges become lists, because the displayed numbers may
 * not be consecutive.
 */
function CitationMark({ mark }: { readonly mark: string }): ReactNode {
  const sources = use(SourcesContext);
  const list = mark.replace(/(\d{1,3}) ?[–-] ?(\d{1,3})/g, (range, first, last) => {
    const numbers = listRange(Number(first), Number(last));
    return numbers.every((number) => sources?.find(number) !== undefined) ? numbers.join(', ') || range : range;
  });
  const parts = list.split(/(\d+)/);
  if (parts.length === 3 || mark.startsWith('【')) return <CitationButton number={Number(parts[1])} text={mark} />;
  // biome-ignore lint/suspicious/noArrayIndexKey: the parts of one mark never move
  return parts.map((part, index) => (index % 2 === 1 ? <CitationButton key={index} number={Number(part)} text={part} /> : part));
}

function CitationButton({ number, text }: { readonly number: number; readonly text: string }): ReactNode {
  const strings = useStrings();
  const sources = use(SourcesContext);
  const source = sources?.find(number);
  if (source === undefined) return text;
  const label = strings.showSource(source.number, source.name.slice(0, maxNameLength));
  return (
    <button
      {...{ type: 'button', className: 'citation', title: source.name, 'aria-label': label }}
      onClick={() => sources?.show(source.number)}
    >
      {text.replace(/\d+/, String(source.number))}
    </button>
  );
}

/** Returns the address of a link with an allowed scheme, otherwise undefined. */
export function safeLink(href: string): string | undefined {
  // Browsers ignore control characters inside a scheme.
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the pattern removes control characters
  const address = href.replace(/[\u0000-\u0020\u007f]/g, '');
  if (!/^(https?:\/\/|mailto:)/i.test(address)) return undefined;
  return URL.canParse(address) ? address : undefined;
}
