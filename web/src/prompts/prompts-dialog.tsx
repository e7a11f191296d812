import { type FormEvent, useId, useState } from 'react';
import { filterObjects, isJsonObject, type JsonObject, tryParseJson } from '#base/json/json.ts';
import { FileButton, saveFile, toFileName } from '../parts/device-files.tsx';
import { ErrorMessage } from '../parts/error-message.tsx';
import { IconButton, TextButton } from '../parts/icon.tsx';
import { useAction } from '../parts/use-loaded.ts';
import { useModalDialog } from '../parts/use-modal-dialog.ts';
import type { Service } from '../service/service.ts';
import { deleteDocument } from '../service/user-documents.ts';
import { usePage } from '../shell/page.tsx';
import { useStrings } from '../strings/strings.tsx';
import { maxNameLength, readPrompt, type StoredPrompt, savePrompt } from './prompts.ts';
import { usePromptsStrings } from './prompts-strings.ts';
import '../forms/forms.css';
import '../parts/question-dialog.css';

interface PromptsDialogProps {
  readonly names: readonly string[];
  /** Prompts that the service offers. */
  readonly sharedPrompts: readonly StoredPrompt[];
  readonly onChange: () => Promise<void>;
  readonly close: () => void;
}

/** Lists the user's prompts for adding, editing, and deleting, and those that the service offers. */
export function PromptsDialog({ names, sharedPrompts, onChange, close }: PromptsDialogProps) {
  const strings = useStrings();
  const promptsStrings = usePromptsStrings();
  const { service } = usePage();
  const { dialog, closeDialog } = useModalDialog(close);
  const [id, nameId, textId] = [useId(), useId(), useId()];
  const [draft, setDraft] = useState({ name: '', content: '' });
  const { error, run } = useAction();
  const attempt = (action: Promise<unknown>): void => void run(() => action.then(onChange));
  const save = (event: FormEvent): void => {
    event.preventDefault();
    const prompt = { name: draft.name.trim(), content: draft.content };
    if (prompt.name === '' || prompt.content.trim() === '') return;
    attempt(savePrompt(service, 'said', prompt).then(() => setDraft({ name: '', content: '' })));
  };
  const edit = (name: string): void => attempt(readPrompt(service, 'said', name).then(setDraft));
  return (
    <dialog {...{ ref: dialog, className: 'question-dialog form-dialog prompts-dialog', 'aria-labelledby': id }}>
      <h2 id={id}>{promptsStrings.prompts}</h2>
      <p className="soft small">{promptsStrings.promptsHint}</p>
      <ul>
        {names.map((name) => (
          <li key={name} className="prompt-item">
            <button type="button" className="quiet-link" onClick={() => edit(name)}>
              {name}
            </button>
            <IconButton
              icon="save"
              label={promptsStrings.exportOne(name)}
              onClick={() => attempt(exportPrompts(service, [name], name))}
            />
            <IconButton
              icon="trash"
              label={strings.deleteNamed(name)}
              onClick={() => attempt(deleteDocument(service, 'said', name))}
            />
          </li>
        ))}
      </ul>
      <PromptTransfer {...{ names, attempt }} />
      {sharedPrompts.length > 0 && (
        <section>
          <h3>{promptsStrings.shared}</h3>
          {sharedPrompts.map((prompt) => (
            <details key={prompt.name}>
              <summary>{prompt.name}</summary>
              <p className="shared-prompt">{prompt.content}</p>
              <TextButton className="button slim" onClick={() => attempt(addPrompts(service, [prompt], names))}>
                {promptsStrings.copyShared}
              </TextButton>
            </details>
          ))}
        </section>
      )}
      <form className="form" onSubmit={save}>
        <div className="field">
          <label htmlFor={nameId}>{promptsStrings.promptName}</label>
          <input
            {...{ id: nameId, type: 'text', value: draft.name, maxLength: maxNameLength, required: true }}
            // If the user has no prompts, the dialog would focus the import button.
            ref={(field) => void field?.toggleAttribute('autofocus', names.length === 0)}
            onChange={({ target }) => setDraft({ ...draft, name: target.value })}
          />
        </div>
        <div className="field">
          <label htmlFor={textId}>{promptsStrings.promptText}</label>
          <textarea
            {...{ id: textId, rows: 4, value: draft.content, required: true }}
            onChange={({ target }) => setDraft({ ...draft, content: target.value })}
          />
        </div>
        <div className="row end">
          <TextButton onClick={closeDialog}>{strings.close}</TextButton>
          <button type="submit" className="button primary">
            {strings.save}
          </button>
        </div>
      </form>
      <ErrorMessage error={error} />
    </dialog>
  );
}

interface PromptTransferProps {
  readonly names: readonly string[];
  /** Shows the error of an action, or reloads the list after it. */
  readonly attempt: (action: Promise<unknown>) => void;
}

/** Exports all prompts and imports prompts of a file, so that users can exchange them. */
function PromptTransfer({ names, attempt }: PromptTransferProps) {
  const strings = usePromptsStrings();
  const { service } = usePage();
  const [status, setStatus] = useState('');
  const importFile = async (file: File): Promise<void> => {
    const imported = file.size > maxPromptFileBytes ? undefined : readPromptFile(await file.text());
    setStatus(
      imported === undefined ? strings.noPromptsIn(file.name) : strings.imported(await addPrompts(service, imported, names)),
    );
  };
  return (
    <>
      <div className="row">
        <FileButton
          {...{ label: strings.importPrompts, className: 'button slim', accept: '.json,application/json' }}
          onFile={(file) => attempt(importFile(file))}
        />
        {names.length > 0 && (
          <TextButton className="button slim" onClick={() => attempt(exportPrompts(service, names, strings.prompts))}>
            {strings.exportAll}
          </TextButton>
        )}
      </div>
      <p className="soft small" role="status">
        {status}
      </p>
    </>
  );
}

/** Downloads prompts as one file. Throws `ServiceError`. */
async function exportPrompts(service: Service, names: readonly string[], title: string): Promise<void> {
  const prompts: PromptFileEntry[] = [];
  for (const name of names) prompts.push(await readPrompt(service, 'said', name));
  saveFile(toFileName(title, 'json'), toPromptFile(prompts));
}

/** Adds the prompts that are missing, under unused names. Returns their number. Throws `ServiceError`. */
async function addPrompts(service: Service, imported: readonly PromptFileEntry[], names: readonly string[]): Promise<number> {
  const usedNames = new Set(names);
  let addedCount = 0;
  for (const { name, content } of imported) {
    if (usedNames.has(name) && (await readPrompt(service, 'said', name)).content === content) continue;
    const newName = findUnusedName(name, usedNames);
    await savePrompt(service, 'said', { name: newName, content });
    usedNames.add(newName);
    addedCount += 1;
  }
  return addedCount;
}

/** A prompt in a file. */
interface PromptFileEntry {
  readonly name: string;
  readonly content: string;
}

const format = 'parley-prompts';
const maxPrompts = 500;
const maxPromptFileBytes = 16 * 1024 ** 2;

/** Builds a file that another user can import. */
export function toPromptFile(prompts: readonly PromptFileEntry[]): Blob {
  const text = JSON.stringify({ format, version: 1, prompts: prompts.map(({ name, content }) => ({ name, content })) }, null, 2);
  return new Blob([text, '\n'], { type: 'application/json' });
}

/**
 * Reads the prompts of a file. It can be from this page, from DIAL's chat (`prompts` with `name` and `content`), from Open WebUI
 * (a list with `command`, `title` or `name`, and `content`), or from LibreChat's API (groups with a `productionPrompt`). Returns
 * undefined if the file contains no prompts.
 */
export function readPromptFile(text: string): readonly PromptFileEntry[] | undefined {
  const value = tryParseJson(text);
  const entries = isJsonObject(value) ? (value.prompts ?? value.promptGroups) : value;
  const prompts = filterObjects(entries).flatMap(toPromptFileEntry).slice(0, maxPrompts);
  return prompts.length === 0 ? undefined : prompts;
}

function toPromptFileEntry(item: JsonObject): readonly PromptFileEntry[] {
  const { productionPrompt: production } = item;
  const content = [item.content, isJsonObject(production) ? production.prompt : undefined].find(isNonBlank);
  const name = [item.name, item.title, item.command].find(isNonBlank)?.replace(/^\//, '').trim().slice(0, maxNameLength);
  return content === undefined || name === undefined || name === '' ? [] : [{ name, content }];
}

function isNonBlank(value: unknown): value is string {
  return typeof value === 'string' && value.trim() !== '';
}

/** Returns `name` if it is not in use, otherwise `name` with a number. */
export function findUnusedName(name: string, usedNames: ReadonlySet<string>): string {
  for (let number = 2, next = name; ; number += 1) {
    if (!usedNames.has(next)) return next;
    const suffix = ` (${number})`;
    next = name.slice(0, maxNameLength - suffix.length) + suffix;
  }
}
