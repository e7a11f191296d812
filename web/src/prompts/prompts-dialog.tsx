import { type FormEvent, useId, useRef, useState } from 'react';
import { usePage } from '../page/page.tsx';
import { Icon } from '../parts/icon.tsx';
import { Trouble } from '../parts/trouble.tsx';
import { useShownDialog } from '../parts/use-shown-dialog.ts';
import { type Fault, faultOf } from '../service/fault.ts';
import { useWords } from '../words/words.tsx';
import { deletePrompt, longestName, readPrompt, savePrompt } from './prompts.ts';
import { usePromptsWords } from './prompts-words.ts';
import '../forms/forms.css';
import '../parts/question-dialog.css';
import { saveFile, toFileName } from '../parts/save-file.ts';
import type { Service } from '../service/service.ts';
import { type FiledPrompt, freeName, mostPromptFileBytes, readPromptFile, toPromptFile } from './prompt-file.ts';

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

interface PromptTransferProps {
  readonly names: readonly string[];
  /** Runs what may fail, and lists anew what there is. */
  readonly attempt: (act: Promise<unknown>) => void;
}

/** Hands prompts out as a file, all of them or one, and takes those of a file in: that is how they get to a colleague. */
function PromptTransfer({ names, attempt }: PromptTransferProps) {
  const words = usePromptsWords();
  const { service } = usePage();
  const input = useRef<HTMLInputElement>(null);
  const [said, setSaid] = useState('');
  const bringIn = async (file: File): Promise<void> => {
    const filed = file.size > mostPromptFileBytes ? undefined : readPromptFile(await file.text());
    setSaid(filed === undefined ? words.noPromptsIn(file.name) : words.broughtIn(await addPrompts(service, filed, names)));
  };
  return (
    <>
      <div className="row">
        <button type="button" className="button slim" onClick={() => input.current?.click()}>
          {words.bringIn}
        </button>
        {names.length > 0 && (
          <button type="button" className="button slim" onClick={() => attempt(savePrompts(service, names, words.prompts))}>
            {words.saveAll}
          </button>
        )}
      </div>
      <input
        {...{ ref: input, type: 'file', accept: '.json,application/json', hidden: true, 'aria-label': words.bringIn }}
        onChange={({ target }) => {
          const [file] = target.files ?? [];
          if (file !== undefined) attempt(bringIn(file));
          target.value = '';
        }}
      />
      <p className="soft small" role="status">
        {said}
      </p>
    </>
  );
}

/** Hands out some prompts as one file. Throws ServiceFault. */
async function savePrompts(service: Service, names: readonly string[], title: string): Promise<void> {
  const prompts: FiledPrompt[] = [];
  for (const name of names) prompts.push(await readPrompt(service, 'said', name));
  saveFile(toFileName(title, 'json'), toPromptFile(prompts));
}

/** Adds those that are not there, each under a name that is not taken; gives how many. Throws ServiceFault. */
async function addPrompts(service: Service, filed: readonly FiledPrompt[], names: readonly string[]): Promise<number> {
  const taken = new Set(names);
  let added = 0;
  for (const { name, content } of filed) {
    if (taken.has(name) && (await readPrompt(service, 'said', name)).content === content) continue;
    const free = freeName(name, taken);
    await savePrompt(service, 'said', { name: free, content });
    taken.add(free);
    added += 1;
  }
  return added;
}
