import type { Conversation } from '../conversation/conversation.ts';
import { usePage } from '../page/page.tsx';
import { Icon } from '../parts/icon.tsx';
import { useMarks } from './use-marks.ts';
import './found-bar.css';
import { useWordsOf } from '../words/words.tsx';
import { type SearchWords, searchEnglish } from './search-english.ts';
import { searchFrench } from './search-french.ts';
import { searchGerman } from './search-german.ts';
import { searchSpanish } from './search-spanish.ts';

interface FoundBarProps {
  readonly conversation: Conversation;
  /** What was searched for. */
  readonly query: string;
}

/** Says how often the words of a search stand in a conversation, which marks them, and leads from one to the next. */
export function FoundBar({ conversation, query }: FoundBarProps) {
  const words = useSearchWords();
  const { go } = usePage();
  const { count, at, goTo } = useMarks(conversation, query);
  const step = (way: 'up' | 'down', name: string, by: number) => (
    <button
      {...{ type: 'button', className: `icon-button ${way}`, 'aria-label': name, title: name, disabled: count < 2 }}
      onClick={() => goTo((at + by + count) % count)}
    >
      <Icon name="down" />
    </button>
  );
  return (
    <search className="found-bar small" aria-label={words.inConversation}>
      <Icon name="search" />
      <span className="found-query">{query}</span>
      <span className="soft" role="status">
        {count === 0 ? words.notInText : words.placeOf(at + 1, count)}
      </span>
      {step('up', words.earlier, -1)}
      {step('down', words.later, 1)}
      <button
        {...{ type: 'button', className: 'icon-button', 'aria-label': words.markNoMore, title: words.markNoMore }}
        onClick={() => go({ at: 'conversation', id: conversation.id })}
      >
        <Icon name="close" />
      </button>
    </search>
  );
}

/** What is said of what a search has found; apart from the other words, so that only who opens it loads it. */
function useSearchWords(): SearchWords {
  return useWordsOf({ en: searchEnglish, de: searchGerman, fr: searchFrench, es: searchSpanish });
}
