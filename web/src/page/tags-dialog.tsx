import { type FormEvent, useId, useState } from 'react';
import type { ConversationSummary } from '../conversation/database.ts';
import { useModalDialog } from '../parts/use-modal-dialog.ts';
import { listTags } from './conversation-filter.ts';
import { useUpdateAttributes } from './conversation-menu.tsx';
import { useSummaries } from './page.tsx';
import '../parts/question-dialog.css';
import { useLocalizedStrings } from '../strings/strings.tsx';
import { type TagsStrings, tagsEnglish } from './tags-english.ts';
import { tagsFrench } from './tags-french.ts';
import { tagsGerman } from './tags-german.ts';
import { tagsSpanish } from './tags-spanish.ts';

const maxTags = 20;

interface TagsDialogProps {
  readonly summary: ConversationSummary;
  readonly title: string;
  readonly onClose: () => void;
}

/** Tags of a chat: existing ones with checkboxes, and a new one. */
export function TagsDialog({ summary, title, onClose }: TagsDialogProps) {
  const tagsStrings = useTagsStrings();
  const updateAttributes = useUpdateAttributes(summary);
  const { dialog, closeDialog } = useModalDialog(onClose);
  const [newTag, setNewTag] = useState('');
  const { tags = [] } = summary;
  const knownTags = listTags(useSummaries());
  const titleId = useId();
  const inputId = useId();
  const toggle = (tag: string): void =>
    void updateAttributes({ tags: tags.includes(tag) ? tags.filter((selectedTag) => selectedTag !== tag) : [...tags, tag] });
  const add = (event: FormEvent): void => {
    event.preventDefault();
    const tag = newTag.trim().replace(/\s+/g, ' ');
    setNewTag('');
    if (tag !== '' && !tags.includes(tag)) toggle(tag);
  };
  const isFull = tags.length >= maxTags;
  return (
    <dialog {...{ ref: dialog, className: 'question-dialog tags-dialog', 'aria-labelledby': titleId, closedby: 'any' }}>
      <p id={titleId}>{tagsStrings.tagsOfConversation(title)}</p>
      <div className="tag-choices">
        {knownTags.map((tag) => (
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
        <label className="heard-only" htmlFor={inputId}>
          {tagsStrings.newTag}
        </label>
        <input
          {...{
            id: inputId,
            value: newTag,
            maxLength: 60,
            placeholder: tagsStrings.newTag,
            disabled: isFull,
            autoComplete: 'off',
          }}
          onChange={({ target }) => setNewTag(target.value)}
        />
        <button {...{ type: 'submit', className: 'button', disabled: newTag.trim() === '' || isFull }}>
          {tagsStrings.addTag}
        </button>
      </form>
      <div className="row end">
        <button type="button" className="button primary" onClick={closeDialog}>
          {tagsStrings.done}
        </button>
      </div>
    </dialog>
  );
}

/** Texts of the tags dialog, in a separate chunk. */
function useTagsStrings(): TagsStrings {
  return useLocalizedStrings({ en: tagsEnglish, de: tagsGerman, fr: tagsFrench, es: tagsSpanish });
}
