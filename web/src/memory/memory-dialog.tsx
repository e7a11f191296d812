import { type FormEvent, useCallback, useId, useState } from 'react';
import { type Memory, maxNotesChars, readMemory, saveMemory } from '../conversation/chat-context.ts';
import { memoryGerman } from '../locales/de/memory.ts';
import { memoryEnglish } from '../locales/en/memory.ts';
import { memorySpanish } from '../locales/es/memory.ts';
import { memoryFrench } from '../locales/fr/memory.ts';
import { ErrorMessage } from '../parts/error-message.tsx';
import { TextButton } from '../parts/icon.tsx';
import { useAction, useLoaded } from '../parts/use-loaded.ts';
import { useModalDialog } from '../parts/use-modal-dialog.ts';
import { usePage, useVisibility } from '../shell/page.tsx';
import { useLocalizedStrings, useStrings } from '../strings/strings.tsx';
import '../forms/forms.css';
import '../parts/question-dialog.css';

/** Edits the notes about the user that requests contain, and turns them on and off. */
export function MemoryDialog({ close }: { readonly close: () => void }) {
  const common = useStrings();
  const strings = useLocalizedStrings({ en: memoryEnglish, de: memoryGerman, fr: memoryFrench, es: memorySpanish });
  const { service } = usePage();
  const { dialog, closeDialog } = useModalDialog(close);
  const load = useCallback(() => readMemory(service), [service]);
  const { value: stored, error: readError, isLoading, reload } = useLoaded(load);
  const [draft, setDraft] = useState<Memory>();
  const [saved, setSaved] = useState<Memory>();
  const { error, run } = useAction();
  const [titleId, notesId, switchId] = [useId(), useId(), useId()];
  const memory = draft ?? saved ?? stored ?? { notes: '', isOn: true };
  const change = (part: Partial<Memory>): void => setDraft({ ...memory, ...part });
  const save = (event: FormEvent): void => {
    event.preventDefault();
    void run(async () => {
      await saveMemory(service, memory);
      setSaved(memory);
      // The user may have changed the draft in the meantime.
      setDraft((current) => (current === memory ? undefined : current));
    });
  };
  return (
    <dialog {...{ ref: dialog, className: 'question-dialog form-dialog', 'aria-labelledby': titleId, 'aria-busy': isLoading }}>
      <form className="form" onSubmit={save}>
        <h2 id={titleId}>{common.memory}</h2>
        <p className="soft small">{strings.hint(useVisibility())}</p>
        <div className="field">
          <label htmlFor={notesId}>{strings.text}</label>
          <textarea
            {...{ id: notesId, rows: 8, value: memory.notes, maxLength: maxNotesChars, disabled: stored === undefined }}
            onChange={({ target }) => change({ notes: target.value })}
          />
          {memory.notes.length >= maxNotesChars && <p className="soft small">{strings.limitReached(maxNotesChars)}</p>}
        </div>
        <label className="check" htmlFor={switchId}>
          <input
            {...{ id: switchId, type: 'checkbox', checked: memory.isOn, disabled: stored === undefined }}
            onChange={({ target }) => change({ isOn: target.checked })}
          />
          {strings.use}
        </label>
        <ErrorMessage error={error} />
        <ErrorMessage error={readError} retry={reload} />
        <p role="status">{saved !== undefined && draft === undefined && strings.saved}</p>
        <div className="row end">
          <TextButton onClick={closeDialog}>{draft === undefined ? common.close : common.cancel}</TextButton>
          <button {...{ type: 'submit', className: 'button primary', disabled: draft === undefined }}>{common.save}</button>
        </div>
      </form>
    </dialog>
  );
}
