import type { Conversation } from '../conversation/conversation.ts';
import { usePage } from '../page/page.tsx';
import { Icon } from '../parts/icon.tsx';
import { useMarks } from './use-marks.ts';
import './match-bar.css';
import { searchGerman } from '../locales/de/chat/search.ts';
import { type SearchStrings, searchEnglish } from '../locales/en/chat/search.ts';
import { searchSpanish } from '../locales/es/chat/search.ts';
import { searchFrench } from '../locales/fr/chat/search.ts';
import { useLocalizedStrings } from '../strings/strings.tsx';

interface MatchBarProps {
  readonly conversation: Conversation;
  /** Search text. */
  readonly query: string;
}

/** Counts the matches in a chat, highlights them, and moves between them. */
export function MatchBar({ conversation, query }: MatchBarProps) {
  const strings = useSearchStrings();
  const { go } = usePage();
  const { count, index, goTo } = useMarks(conversation, query);
  const renderStepButton = (direction: 'up' | 'down', name: string, offset: number) => (
    <button
      {...{ type: 'button', className: `icon-button ${direction}`, 'aria-label': name, title: name, disabled: count < 2 }}
      onClick={() => goTo((index + offset + count) % count)}
    >
      <Icon name="down" />
    </button>
  );
  return (
    <search className="found-bar small" aria-label={strings.inConversation}>
      <Icon name="search" />
      <span className="found-query">{query}</span>
      <span className="soft" role="status">
        {count === 0 ? strings.notInText : strings.position(index + 1, count)}
      </span>
      {renderStepButton('up', strings.earlier, -1)}
      {renderStepButton('down', strings.later, 1)}
      <button
        {...{ type: 'button', className: 'icon-button', 'aria-label': strings.removeHighlights, title: strings.removeHighlights }}
        onClick={() => go({ at: 'conversation', id: conversation.id })}
      >
        <Icon name="close" />
      </button>
    </search>
  );
}

/** Returns the strings of the search, which are in a separate chunk that only the search loads. */
function useSearchStrings(): SearchStrings {
  return useLocalizedStrings({ en: searchEnglish, de: searchGerman, fr: searchFrench, es: searchSpanish });
}
