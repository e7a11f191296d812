import type { Token, Tokens } from 'marked';
import type { ReactNode } from 'react';
import { citationMarks } from '../attachments/cited.ts';
import { Icon } from '../parts/icon.tsx';
import { useWords } from '../words/words.tsx';
import { CitedText } from './cited-text.tsx';
import { Formula } from './formula.tsx';
import type { MathToken } from './lexer.ts';
import { safeLink } from './safe-link.ts';
import { SourcesContext } from './sources.ts';
import { toText } from './to-text.ts';

/** The parts of a line of text. */
export function Inline({ tokens }: { readonly tokens: readonly Token[] }): ReactNode {
  // biome-ignore lint/suspicious/noArrayIndexKey: parts have no other identity and never move
  return tokens.map((token, at) => <Part key={at} token={token} />);
}

function Part({ token }: { readonly token: Token }): ReactNode {
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
    case 'mathText':
      return <Formula text={(token as MathToken).text} isBlock={false} />;
    case 'text':
      return inner ?? drawText(toText(token.text));
    case 'escape':
      return token.text;
    case 'checkbox':
      return null;
    default:
      return token.raw;
  }
}

/** Only what has marks is more than a text: an answer may have thousands of pieces. */
function drawText(text: string): ReactNode {
  return text.search(citationMarks) === -1 ? text : <CitedText text={text} />;
}

function Link({ token: { href }, children }: { readonly token: Tokens.Link; readonly children: ReactNode }) {
  const address = safeLink(href);
  const inner = <SourcesContext value={undefined}>{children}</SourcesContext>;
  if (address === undefined) return <span className="dead-link">{inner}</span>;
  return (
    <a href={address} target="_blank" rel="noopener noreferrer">
      {inner}
    </a>
  );
}

/** A picture inside the text itself is shown; one that lies elsewhere would tell its owner who reads, so it is only named. */
function Picture({ token: { href, text } }: { readonly token: Tokens.Image }) {
  const words = useWords();
  if (/^data:image\/(png|jpe?g|gif|webp);base64,/i.test(href)) return <img src={href} alt={text} />;
  const address = safeLink(href);
  if (address === undefined) return text;
  return (
    <a className="remote-picture" href={address} target="_blank" rel="noopener noreferrer">
      <Icon name="picture" />
      {text || words.remoteImage(new URL(address).host)}
      <span className="soft small">{words.remoteImage(new URL(address).host)}</span>
    </a>
  );
}
