import type { Token } from 'marked';
import { memo, useMemo, useState } from 'react';
import { Guard } from '../parts/lazy-view.tsx';
import { Block, hasSameSource } from './block.tsx';
import { FrameScheduler, FrameSchedulerContext } from './frame-scheduler.ts';
import { GrowingBlocks, usePacedText } from './growing-text.ts';
import { PlainText } from './long-text.tsx';
import { RenderedWhenNear } from './rendered-when-near.tsx';

interface MarkdownProps {
  readonly text: string;
  /** Whether more text may follow. */
  readonly isGrowing: boolean;
  /** Whether rendering waits until the text comes near the view. */
  readonly isDeferred?: boolean;
}

/** Untrusted markdown: HTML beyond a few tags is shown as text, links lead only to web addresses, and pictures on other hosts are not loaded. */
export const Markdown = memo(function Markdown({ text, isGrowing, isDeferred = false }: MarkdownProps) {
  const [wasDeferred] = useState(isDeferred);
  if (!wasDeferred) return <Text {...{ text, isGrowing }} />;
  return (
    <div className="markdown">
      <RenderedWhenNear text={text} isEager={isGrowing}>
        {() => <Text {...{ text, isGrowing }} />}
      </RenderedWhenNear>
    </div>
  );
});

/** Number of parts at each end that are rendered immediately. */
const eagerPartsAtEnds = 2;

function Text({ text, isGrowing }: MarkdownProps) {
  const [blocks] = useState(() => new GrowingBlocks());
  const [scheduler] = useState(() => new FrameScheduler());
  const visibleText = usePacedText(text, !isGrowing);
  const isUnfinished = isGrowing || visibleText.length < text.length;
  // While a complete text is being parsed, the unparsed part follows as its source, so the last parsed parts are not at the end.
  const isEndEager = isGrowing || !isUnfinished;
  const tokens = useMemo(() => blocks.parse(visibleText, isUnfinished), [blocks, visibleText, isUnfinished]);
  const parts = useMemo(() => toParts(tokens), [tokens]);
  return (
    <div className="markdown" aria-busy={isUnfinished}>
      <Guard
        fallback={
          <div className="plain" dir="auto">
            <PlainText text={text} />
          </div>
        }
      >
        <FrameSchedulerContext value={scheduler}>
          {parts.map((part, index) => (
            <Part
              // biome-ignore lint/suspicious/noArrayIndexKey: a text grows at its end, so a part keeps its place
              key={index}
              tokens={part}
              isUnfinished={isUnfinished && index === parts.length - 1}
              isEager={index < eagerPartsAtEnds || (isEndEager && index >= parts.length - eagerPartsAtEnds)}
            />
          ))}
        </FrameSchedulerContext>
      </Guard>
      {!isGrowing && isUnfinished && <Rest text={text} from={visibleText.length} />}
    </div>
  );
}

const charsInPiece = 8000;

/** Source of the unparsed text, in parts. Parts out of view have no layout. */
function Rest({ text, from }: { readonly text: string; readonly from: number }) {
  const first = Math.floor(from / charsInPiece);
  const count = Math.ceil(text.length / charsInPiece);
  return Array.from({ length: count - first }, (_, index) => {
    const at = first + index;
    return <Source key={at} text={text.slice(Math.max(from, at * charsInPiece), (at + 1) * charsInPiece)} />;
  });
}

const Source = memo(({ text }: { readonly text: string }) => (
  <RenderedWhenNear text={text} isEager={false}>
    {() => (
      <div className="plain" dir="auto">
        <PlainText text={text} />
      </div>
    )}
  </RenderedWhenNear>
));

interface PartProps {
  readonly tokens: readonly Token[];
  /** Whether the last block may still grow. */
  readonly isUnfinished: boolean;
  /** Whether to render immediately at any position. */
  readonly isEager: boolean;
}

/** Some blocks of a long text. */
const Part = memo(
  ({ tokens, isUnfinished, isEager }: PartProps) => (
    <RenderedWhenNear text={tokens.map(({ raw }) => raw).join('')} isEager={isEager}>
      {() =>
        tokens.map((token, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: as above
          <Block key={index} token={token} isUnfinished={isUnfinished && index === tokens.length - 1} />
        ))
      }
    </RenderedWhenNear>
  ),
  (before, after) =>
    before.isUnfinished === after.isUnfinished &&
    before.isEager === after.isEager &&
    before.tokens.length === after.tokens.length &&
    before.tokens.every((token, index) => hasSameSource(token, after.tokens[index])),
);

const maxBlocks = 24;
const maxChars = 1200;

/** Groups blocks that are rendered as one. A growing text keeps its groups, except for the last. */
function toParts(tokens: readonly Token[]): readonly (readonly Token[])[] {
  const parts: Token[][] = [];
  let chars = Number.POSITIVE_INFINITY;
  for (const token of tokens) {
    const last = parts.at(-1);
    if (last === undefined || last.length >= maxBlocks || chars >= maxChars) {
      parts.push([token]);
      chars = token.raw.length;
    } else {
      last.push(token);
      chars += token.raw.length;
    }
  }
  return parts;
}
