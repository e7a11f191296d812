import { type FormEvent, useId, useState } from 'react';
import type { Head } from '../conversation/database.ts';
import { useShownDialog } from '../parts/use-shown-dialog.ts';
import { useArranging } from './head-menu.tsx';
import { useHeads } from './page.tsx';
import { tagsOf } from './shelf.ts';
import '../parts/question-dialog.css';
import { useWordsOf } from '../words/words.tsx';
import { type TagsWords, tagsEnglish } from './tags-english.ts';
import { tagsFrench } from './tags-french.ts';
import { tagsGerman } from './tags-german.ts';
import { tagsSpanish } from './tags-spanish.ts';

const mostTags = 20;

interface TagsDialogProps {
  readonly head: Head;
  readonly title: string;
  readonly close: () => void;
}

/** Which tags a conversation has: those that are there to tick, and a new one. */
export function TagsDialog({ head, title, close }: TagsDialogProps) {
  const own = useTagsWords();
  const arrange = useArranging(head);
  const { dialog, leave } = useShownDialog(close);
  const [added, setAdded] = useState('');
  const { tags = [] } = head;
  const known = tagsOf(useHeads());
  const name = useId();
  const field = useId();
  const toggle = (tag: string): void =>
    void arrange({ tags: tags.includes(tag) ? tags.filter((each) => each !== tag) : [...tags, tag] });
  const add = (event: FormEvent): void => {
    event.preventDefault();
    const tag = added.trim().replace(/\s+/g, ' ');
    setAdded('');
    if (tag !== '' && !tags.includes(tag)) toggle(tag);
  };
  const isFull = tags.length >= mostTags;
  return (
    <dialog {...{ ref: dialog, className: 'question-dialog tags-dialog', 'aria-labelledby': name, closedby: 'any' }}>
      <p id={name}>{own.tagsOfConversation(title)}</p>
      <div className="tag-choices">
        {known.map((tag) => (
          <label key={tag} className="tag-choice">
            <input
              {...{ type: 'checkbox', checked: tags.includes(tag), disabled: isFull && !tags.includes(tag) }}
              onChange={() => toggle(tag)}
            />
            {tag}
          </label>
        ))}
      </div>
      <form onSubmit={add}>
        <label className="heard-only" htmlFor={field}>
          {own.newTag}
        </label>
        <input
          {...{ id: field, value: added, maxLength: 60, placeholder: own.newTag, disabled: isFull, autoComplete: 'off' }}
          onChange={({ target }) => setAdded(target.value)}
        />
        <button {...{ type: 'submit', className: 'button', disabled: added.trim() === '' || isFull }}>{own.addTag}</button>
      </form>
      <div className="row end">
        <button type="button" className="button primary" onClick={leave}>
          {own.done}
        </button>
      </div>
    </dialog>
  );
}

/** What the tags of a conversation say; apart from the other words, so that it is loaded with them. */
function useTagsWords(): TagsWords {
  return useWordsOf({ en: tagsEnglish, de: tagsGerman, fr: tagsFrench, es: tagsSpanish });
}
