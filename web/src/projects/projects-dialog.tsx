import { type FormEvent, useId, useState } from 'react';
import type { ConversationSummary } from '../conversation/database.ts';
import { listTags } from '../page/conversation-filter.ts';
import { useUpdateAttributes } from '../page/conversation-menu.tsx';
import { usePage, useSummaries, useVisibility } from '../page/page.tsx';
import { useModalDialog } from '../parts/use-modal-dialog.ts';
import { useStrings } from '../strings/strings.tsx';
import { useProjectsStrings } from './projects-strings.ts';
import '../forms/forms.css';
import '../parts/question-dialog.css';

const maxTags = 20;
const maxProjectChars = 60;

function toProjectName(text: string): string {
  return text.trim().replace(/\s+/g, ' ');
}

interface ProjectsDialogProps {
  readonly summary: ConversationSummary;
  readonly title: string;
  readonly onClose: () => void;
}

/** Projects of a chat, which are its tags: existing ones with checkboxes, and a new one. */
export function ProjectsDialog({ summary, title, onClose }: ProjectsDialogProps) {
  const strings = useProjectsStrings();
  const { newProject } = useStrings();
  const updateAttributes = useUpdateAttributes(summary);
  const { dialog, closeDialog } = useModalDialog(onClose);
  const [newTag, setNewTag] = useState('');
  const { tags = [] } = summary;
  const knownTags = listTags(useSummaries());
  const titleId = useId();
  const inputId = useId();
  const toggle = (tag: string): void =>
    void updateAttributes({ tags: tags.includes(tag) ? tags.filter((selectedTag) => selectedTag !== tag) : [...tags, tag] });
  const add = (): void => {
    const tag = toProjectName(newTag);
    setNewTag('');
    if (tag !== '' && !tags.includes(tag)) toggle(tag);
  };
  const isFull = tags.length >= maxTags;
  return (
    <dialog {...{ ref: dialog, className: 'question-dialog tags-dialog', 'aria-labelledby': titleId, closedby: 'any' }}>
      <p id={titleId}>{strings.projectsOfConversation(title)}</p>
      <p className="soft small">{strings.hint(useVisibility())}</p>
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
      <form
        onSubmit={(event: FormEvent) => {
          event.preventDefault();
          add();
        }}
      >
        <label className="heard-only" htmlFor={inputId}>
          {newProject}
        </label>
        <input
          {...{
            id: inputId,
            value: newTag,
            maxLength: maxProjectChars,
            placeholder: newProject,
            disabled: isFull,
            autoComplete: 'off',
          }}
          onChange={({ target }) => setNewTag(target.value)}
        />
        <button {...{ type: 'submit', className: 'button', disabled: newTag.trim() === '' || isFull }}>
          {strings.addProject}
        </button>
      </form>
      <div className="row end">
        <button
          type="button"
          className="button primary"
          onClick={() => {
            add();
            closeDialog();
          }}
        >
          {strings.done}
        </button>
      </div>
    </dialog>
  );
}

/** Starts a chat in a project with a new name. */
export function NewProjectDialog({ close }: { readonly close: () => void }) {
  const strings = useProjectsStrings();
  const { newProject, cancel } = useStrings();
  const { go } = usePage();
  const { dialog, closeDialog } = useModalDialog(close);
  const [text, setText] = useState('');
  const id = useId();
  const project = toProjectName(text);
  const start = (event: FormEvent): void => {
    event.preventDefault();
    closeDialog();
    go({ at: 'new', project });
  };
  return (
    <dialog {...{ ref: dialog, className: 'question-dialog', 'aria-labelledby': id, closedby: 'any' }}>
      <form className="form" onSubmit={start}>
        <h2>
          <label id={id} htmlFor={`${id}-name`}>
            {newProject}
          </label>
        </h2>
        <p className="soft small">{strings.newProjectHint}</p>
        <input
          {...{ id: `${id}-name`, value: text, maxLength: maxProjectChars, autoComplete: 'off' }}
          onChange={({ target }) => setText(target.value)}
        />
        <div className="row end">
          <button type="button" className="button" onClick={closeDialog}>
            {cancel}
          </button>
          <button type="submit" className="button primary" disabled={project === ''}>
            {strings.startProject}
          </button>
        </div>
      </form>
    </dialog>
  );
}
