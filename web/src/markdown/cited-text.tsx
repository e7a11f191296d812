import { type ReactNode, use } from 'react';
import { citationMarks } from '../attachments/cited.ts';
import { useWords } from '../words/words.tsx';
import { SourcesContext } from './sources.ts';

/** Of one piece of text; what has more is not for reading. */
const mostMarks = 100;
const longestName = 80;

/** A text whose marks lead to what they cite. */
export function CitedText({ text }: { readonly text: string }): ReactNode {
  if (use(SourcesContext) === undefined) return text;
  const parts: ReactNode[] = [];
  let end = 0;
  for (const { 0: mark, index } of [...text.matchAll(citationMarks)].slice(0, mostMarks)) {
    parts.push(text.slice(end, index), <Mark key={index} mark={mark} />);
    end = index + mark.length;
  }
  return [...parts, text.slice(end)];
}

/** A mark of one number is a button as a whole, so that it is easy to hit. */
function Mark({ mark }: { readonly mark: string }): ReactNode {
  const parts = mark.split(/(\d+)/);
  if (parts.length === 3 || mark.startsWith('【')) return <Lead number={Number(parts[1])} text={mark} />;
  // biome-ignore lint/suspicious/noArrayIndexKey: the parts of one mark never move
  return parts.map((part, at) => (at % 2 === 1 ? <Lead key={at} number={Number(part)} text={part} /> : part));
}

function Lead({ number, text }: { readonly number: number; readonly text: string }): ReactNode {
  const words = useWords();
  const sources = use(SourcesContext);
  const name = sources?.nameOf(number);
  if (name === undefined) return text;
  const label = words.showSource(number, name.slice(0, longestName));
  return (
    <button type="button" className="cited" aria-label={label} title={name} onClick={() => sources?.show(number)}>
      {text}
    </button>
  );
}
