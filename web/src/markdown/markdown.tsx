import type { Token } from 'marked';
import { memo, useState } from 'react';
import { Guard } from '../parts/guard.tsx';
import { Block, isSame } from './block.tsx';
import { GrowingBlocks } from './growing-blocks.ts';
import { usePacedText } from './use-paced-text.ts';

interface MarkdownProps {
  readonly text: string;
  /** More of it may come. */
  readonly isGrowing: boolean;
}

/** Markdown of somebody who is not trusted: HTML in it is shown as text, links lead to the web alone, pictures of others are not loaded. */
export const Markdown = memo(function Markdown({ text, isGrowing }: MarkdownProps) {
  const [blocks] = useState(() => new GrowingBlocks());
  const shown = usePacedText(text);
  const isUnfinished = isGrowing || shown.length < text.length;
  const tokens = blocks.read(shown, isUnfinished);
  return (
    <div className="markdown" aria-busy={isUnfinished}>
      <Guard instead={<div className="plain">{text}</div>}>
        {toParts(tokens).map((part, at) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: a text grows at its end, so a part keeps its place
          <Part key={at} tokens={part} isOpen={isUnfinished && (at + 1) * blocksInPart >= tokens.length} />
        ))}
      </Guard>
    </div>
  );
});

const blocksInPart = 24;

function toParts(tokens: readonly Token[]): readonly (readonly Token[])[] {
  return Array.from({ length: Math.ceil(tokens.length / blocksInPart) }, (_, at) =>
    tokens.slice(at * blocksInPart, (at + 1) * blocksInPart),
  );
}

interface PartProps {
  readonly tokens: readonly Token[];
  /** Its last block may still grow. */
  readonly isOpen: boolean;
}

/** Some blocks of a long text: what is out of sight is neither drawn anew nor laid out. */
const Part = memo(
  ({ tokens, isOpen }: PartProps) => (
    <div className="part">
      {tokens.map((token, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: as above
        <Block key={at} token={token} isOpen={isOpen && at === tokens.length - 1} />
      ))}
    </div>
  ),
  (before, after) =>
    before.isOpen === after.isOpen &&
    before.tokens.length === after.tokens.length &&
    before.tokens.every((token, at) => isSame(token, after.tokens[at])),
);
