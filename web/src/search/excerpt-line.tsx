import { splitWords } from '../conversation/split-words.ts';
import { toWordPattern } from './word-pattern.ts';
import './excerpt-line.css';

interface ExcerptLineProps {
  readonly text: string;
  /** Search text. */
  readonly query: string;
}

/** An excerpt around a match with the words highlighted. */
export function ExcerptLine({ text, query }: ExcerptLineProps) {
  const pattern = toWordPattern(splitWords(query));
  const matches = pattern === undefined ? [] : [...text.matchAll(pattern)];
  const parts = matches.map(({ index, 0: word }, matchIndex) => {
    const before = matches[matchIndex - 1];
    return { index, word, gap: text.slice(before === undefined ? 0 : before.index + before[0].length, index) };
  });
  const last = matches.at(-1);
  return (
    <span className="excerpt">
      {parts.map(({ index, word, gap }) => (
        <span key={index}>
          {gap}
          <mark>{word}</mark>
        </span>
      ))}
      {text.slice(last === undefined ? 0 : last.index + last[0].length)}
    </span>
  );
}
