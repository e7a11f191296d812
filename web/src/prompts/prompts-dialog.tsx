import { type FormEvent, useId, useState } from 'react';
import { usePage } from '../page/page.tsx';
import { Icon } from '../parts/icon.tsx';
import { Trouble } from '../parts/trouble.tsx';
import { useShownDialog } from '../parts/use-shown-dialog.ts';
import { type Fault, faultOf } from '../service/fault.ts';
import { useWords } from '../words/words.tsx';
import { PromptTransfer, savePrompts } from './prompt-transfer.tsx';
import { deletePrompt, longestName, readPrompt, savePrompt } from './prompts.ts';
import { usePromptsWords } from './prompts-words.ts';
import '../forms/forms.css';
import '../parts/question-dialog.css';

interface PromptsDialogProps {
  readonly names: readonly string[];
  readonly changed: () => Promise<void>;
  readonly close: () => void;
}

/** All of the user's prompts: to add, to change and to delete. */
export function PromptsDialog({ names, changed, close }: PromptsDialogProps) {
  const words = useWords();
  const own = usePromptsWords();
  const { service } = usePage();
  const { dialog, leave } = useShownDialog(close);
  const [id, nameId, textId] = [useId(), useId(), useId()];
  const [draft, setDraft] = useState({ name: '', content: '' });
  const [fault, setFault] = useState<Fault>();
  const attempt = (act: Promise<unknown>): void => {
    setFault(undefined);
    act.then(changed, (thrown: unknown) => setFault(faultOf(thrown)));
  };
  const keep = (event: FormEvent): void => {
    event.preventDefault();
    const prompt = { name: draft.name.trim(), content: draft.content };
    if (prompt.name === '' || prompt.content.trim() === '') return;
    attempt(savePrompt(service, 'said', prompt).then(() => setDraft({ name: '', content: '' })));
  };
  const edit = (name: string): void => attempt(readPrompt(service, 'said', name).then(setDraft));
  return (
    <dialog {...{ ref: dialog, className: 'question-dialog prompts-dialog', 'aria-labelledby': id, closedby: 'any' }}>
      {/* The message is a form of its own, in whose place nothing may be sent from here. */}
      <h2 id={id}>{own.prompts}</h2>
      <p className="soft small">{own.promptsHint}</p>
      <ul>
        {names.map((name) => (
          <li key={name} className="kept-prompt">
            <button type="button" className="quiet-link" onClick={() => edit(name)}>
              {name}
            </button>
            <button
              type="button"
              className="icon-button"
              {...{ 'aria-label': own.saveOne(name), title: own.saveOne(name) }}
              onClick={() => attempt(savePrompts(service, [name], name))}
            >
              <Icon name="save" />
            </button>
            <button
              type="button"
              className="icon-button"
              {...{ 'aria-label': words.deleteConversation(name), title: words.deleteConversation(name) }}
              onClick={() => attempt(deletePrompt(service, 'said', name))}
            >
              <Icon name="trash" />
            </button>
          </li>
        ))}
      </ul>
      <PromptTransfer {...{ names, attempt }} />
      <form className="form" onSubmit={keep}>
        <div className="field">
          <label htmlFor={nameId}>{own.promptName}</label>
          <input
            {...{ id: nameId, type: 'text', value: draft.name, maxLength: longestName, required: true }}
            onChange={({ target }) => setDraft({ ...draft, name: target.value })}
          />
        </div>
        <div className="field">
          <label htmlFor={textId}>{own.promptText}</label>
          <textarea
            {...{ id: textId, rows: 4, value: draft.content, required: true }}
            onChange={({ target }) => setDraft({ ...draft, content: target.value })}
          />
        </div>
        <div className="row end">
          <button type="button" className="button" onClick={leave}>
            {words.close}
          </button>
          <button type="submit" className="button primary">
            {words.keepPreset}
          </button>
        </div>
      </form>
      <Trouble fault={fault} />
    </dialog>
  );
}
